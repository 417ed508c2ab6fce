import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { Failure, localFailure } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import { redirectTarget } from '../transport/client.ts';
import { bodyText, readEnvelope } from '../transport/envelope.ts';
import { type Exchange, exchange } from '../transport/exchange.ts';
import { SharedWork } from '../transport/sharedwork.ts';
import type { TokenSource } from '../transport/token.ts';
import { factsInToken, readScopes, type TokenFacts, type TokenListener } from './tokenfacts.ts';

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

/** Milliseconds that a token is used for when nobody tells how long it lives. */
const USUAL_LIFE = 3_600_000;

/**
 * A token asked for with client id and secret, kept in memory until shortly before it expires (D4). `onToken` is told
 * of each one. Its life counts from when it was asked for, which is never later than when it was made.
 */
export function clientCredentialToken(
  credentials: ClientCredentials,
  deps: Exchange,
  onToken?: TokenListener,
): TokenSource {
  let held: { readonly token: string; readonly until: number } | undefined;
  const asking = new SharedWork(async (signal) => {
    const granted = await askForToken(credentials, deps, signal);
    const { token, askedAt, expiresAt = askedAt + USUAL_LIFE } = granted;
    held = { token, until: expiresAt - Math.min(MARGIN, (expiresAt - askedAt) / 2) };
    onToken?.(granted, true);
    return token;
  });
  return {
    token: (signal) => {
      if (held !== undefined && deps.clock.now() < held.until) return Promise.resolve(held.token);
      return asking.join(signal);
    },
    renew: (token) => {
      if (held?.token === token) held = undefined;
      return true;
    },
  };
}

interface Granted extends TokenFacts {
  readonly token: string;
  /** UTC milliseconds at which the request went out that got it. */
  readonly askedAt: number;
}

async function askForToken(credentials: ClientCredentials, deps: Exchange, signal?: AbortSignal): Promise<Granted> {
  const url = new URL(credentials.tokenUrl);
  if (!url.searchParams.has('grant_type')) url.searchParams.set('grant_type', 'client_credentials');
  const body = new URLSearchParams({
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  }).toString();
  let askedAt = 0;
  const answer = await exchange(deps, {
    make: () => {
      askedAt = deps.clock.now();
      return {
        method: 'POST',
        url: url.href,
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body,
        ...(signal && { signal }),
      };
    },
    // A second token does no harm.
    repeatable: true,
    keyed: false,
    accept: bodyText,
    ...(signal && { signal }),
  });
  const { status, headers, requestId, value = '' } = answer;
  if (status >= 300 && status < 400) {
    const where = redirectTarget(headers.location, credentials.tokenUrl);
    throw localFailure('response.redirect', `The address for tokens redirects to ${where} (HTTP ${status}).`, {
      requestId,
      hint: 'Give the address it redirects to as MOLAR_TOKEN_URL if you trust it; molar sends no secret there by itself.',
    });
  }
  if (status < 200 || status >= 300) throw refused(status, value, requestId);
  const granted = readGrant(value, askedAt);
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

/** `expires_in` is a number or, in the wild, a string (D4). Where it makes no sense, the token itself may tell. */
function readGrant(text: string, askedAt: number): Granted | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPlainObject(answer) || typeof answer.access_token !== 'string' || answer.access_token === '') return undefined;
  const { access_token: token, expires_in: life, scope } = answer;
  const own = factsInToken(token);
  const seconds = typeof life === 'string' || typeof life === 'number' ? Number(life) : Number.NaN;
  const told = Number.isFinite(seconds) && seconds > 0;
  return {
    token,
    askedAt,
    expiresAt: told ? askedAt + seconds * 1000 : own.expiresAt,
    scopes: readScopes(scope) ?? own.scopes,
  };
}
