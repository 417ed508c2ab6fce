import { isPlainObject } from '../../catalog/fields/kind.ts';
import { jsonOf } from '../jsontext.ts';

/** What is known of a token, without the token. */
export interface TokenFacts {
  /** UTC milliseconds; undefined where unknown. */
  readonly expiresAt: number | undefined;
  /** Undefined where unknown. */
  readonly scopes: readonly string[] | undefined;
}

/** Called with what is known of a token; `renewed`: it is replaced automatically when it expires. */
export type TokenListener = (facts: TokenFacts, renewed: boolean) => void;

/** Maximum time that a Date can hold, in seconds. */
const MAX_SECONDS = 8_640_000_000_000;

/**
 * What a token says of itself: `exp` and `scope` (RFC 7519, RFC 9068; also `scp` and `scopes`) where it is a JSON Web
 * Token, nothing otherwise. Its signature is not checked: only the server can tell whether it is valid.
 */
export function factsInToken(token: string): TokenFacts {
  const parts = token.split('.');
  const [head, payload] = parts.length === 3 ? parts.slice(0, 2).map(decode) : [];
  if (!isPlainObject(head) || !isPlainObject(payload) || typeof head.alg !== 'string') {
    return { expiresAt: undefined, scopes: undefined };
  }
  const { exp, scope, scp, scopes } = payload;
  const known = typeof exp === 'number' && exp > 0 && exp <= MAX_SECONDS;
  return { expiresAt: known ? exp * 1000 : undefined, scopes: [scope, scp, scopes].map(readScopes).find(Boolean) };
}

/** A list of scopes as servers write them: an array, or text with spaces or commas; undefined for anything else. */
export function readScopes(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(/[\s,]+/).filter(Boolean);
  return Array.isArray(value) && value.every((scope) => typeof scope === 'string') ? value : undefined;
}

function decode(part: string): unknown {
  return jsonOf(Buffer.from(part, 'base64url').toString('utf8'));
}
