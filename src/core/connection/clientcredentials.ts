import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { Failure, localFailure } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import { readEnvelope } from '../transport/envelope.ts';
import { type Exchange, exchange } from '../transport/exchange.ts';
import type { TokenSource } from '../transport/token.ts';

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Absolute; `grant_type=client_credentials` is added where the query lacks it. */
  readonly tokenUrl: string;
}

/** Where a service without an address of its own for tokens gives them out (D4). */
export function defaultTokenUrl(baseUrl: string): string {
  return `${baseUrl}/oauth/client_credential/accesstoken`;
}

/** Tokens are renewed this long before they expire, or after half their life if that is shorter. */
const MARGIN = 60_000;

/** What the answer to a request for a token said, without the token. */
export interface Grant {
  /** UTC milliseconds. */
  readonly expiresAt: number;
  /** Undefined where the server does not tell them. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * A token asked for with client id and secret, kept in memory until shortly before it expires (D4). `onGrant` is told
 * of each one.
 */
export function clientCredentialToken(
  credentials: ClientCredentials,
  deps: Exchange,
  onGrant?: (grant: Grant) => void,
): TokenSource {
  let held: { readonly token: string; readonly until: number } | undefined;
  let asking: Promise<string> | undefined;
  const ask = async (signal?: AbortSignal) => {
    const granted = await askForToken(credentials, deps, signal);
    const life = granted.expiresIn * 1000;
    const now = deps.clock.now();
    held = { token: granted.token, until: now + life - Math.min(MARGIN, life / 2) };
    onGrant?.({ expiresAt: now + life, scopes: granted.scopes });
    return granted.token;
  };
  return {
    token: (signal) => {
      if (held !== undefined && deps.clock.now() < held.until) return Promise.resolve(held.token);
      asking ??= ask(signal).finally(() => {
        asking = undefined;
      });
      return asking;
    },
    renew: (token) => {
      if (held?.token === token) held = undefined;
      return true;
    },
  };
}

interface Granted {
  readonly token: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scopes: readonly string[] | undefined;
}

async function askForToken(credentials: ClientCredentials, deps: Exchange, signal?: AbortSignal): Promise<Granted> {
  const url = new URL(credentials.tokenUrl);
  if (!url.searchParams.has('grant_type')) url.searchParams.set('grant_type', 'client_credentials');
  const body = new URLSearchParams({
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  }).toString();
  const answer = await exchange(deps, {
    make: () => ({
      method: 'POST',
      url: url.href,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body,
      ...(signal && { signal }),
    }),
    // A second token does no harm.
    repeatable: true,
    keyed: false,
    accept: (text) => text,
    ...(signal && { signal }),
  });
  const { status, requestId, value = '' } = answer;
  if (status < 200 || status >= 300) throw refused(status, value, requestId);
  const granted = readGrant(value);
  if (granted !== undefined) return granted;
  throw localFailure('response.malformed', 'The answer to the request for a token holds no access_token.', {
    requestId,
  });
}

/** Wrong credentials are an authentication failure whatever 4xx the token endpoint says it with. */
function refused(status: number, text: string, requestId: string | null): Failure {
  const problems = readEnvelope(text)?.errors ?? [];
  const failure = new ApiFailure(status, problems, requestId);
  if (status < 400 || status >= 500 || status === 408 || status === 429) return failure;
  return new Failure(`No token was given out. ${failure.message}`, {
    code: failure.code,
    exitCode: EXIT.auth,
    status,
    requestId,
    items: problems,
    hint: 'Check MOLAR_CLIENT_ID, MOLAR_CLIENT_SECRET and MOLAR_TOKEN_URL, or run molar login again.',
    cause: failure,
  });
}

/** `expires_in` is a number or, in the wild, a string (D4); an hour where it is missing or makes no sense. */
function readGrant(text: string): Granted | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(answer) || typeof answer.access_token !== 'string' || answer.access_token === '') return undefined;
  const seconds = Number(answer.expires_in);
  const scopes = typeof answer.scope === 'string' ? answer.scope.split(/[\s,]+/).filter(Boolean) : undefined;
  return { token: answer.access_token, expiresIn: Number.isFinite(seconds) && seconds > 0 ? seconds : 3600, scopes };
}
