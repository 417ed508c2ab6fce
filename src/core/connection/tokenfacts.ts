import { isPlainObject } from '../../catalog/fields/kind.ts';

/** What is known of a token, without the token. */
export interface TokenFacts {
  /** UTC milliseconds; undefined where nobody tells. */
  readonly expiresAt: number | undefined;
  /** Undefined where nobody tells. */
  readonly scopes: readonly string[] | undefined;
}

/** Told of a token; `renewed`: another is got by itself when it ends. */
export type TokenListener = (facts: TokenFacts, renewed: boolean) => void;

/** Latest time that a Date can hold, in seconds: what is later is no time. */
const LATEST = 8_640_000_000_000;

/**
 * What a token says of itself: `exp` and `scope` (RFC 7519, RFC 9068; also `scp` and `scopes`) where it is a JSON Web
 * Token, nothing otherwise. Its signature is not checked: only the server can tell whether it holds.
 */
export function factsInToken(token: string): TokenFacts {
  const [head, payload] = partsOf(token);
  if (head === undefined || payload === undefined || typeof head.alg !== 'string') {
    return { expiresAt: undefined, scopes: undefined };
  }
  const { exp, scope, scp, scopes } = payload;
  const known = typeof exp === 'number' && exp > 0 && exp <= LATEST;
  return { expiresAt: known ? exp * 1000 : undefined, scopes: [scope, scp, scopes].map(readScopes).find(Boolean) };
}

/** A list of scopes as servers write them: an array, or a text with spaces or commas; undefined for anything else. */
export function readScopes(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(/[\s,]+/).filter(Boolean);
  return Array.isArray(value) && value.every((scope) => typeof scope === 'string') ? value : undefined;
}

function partsOf(token: string): readonly (Readonly<Record<string, unknown>> | undefined)[] {
  const parts = token.split('.');
  return parts.length === 3 ? parts.slice(0, 2).map(decode) : [];
}

function decode(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
