import { EXIT } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { untilAborted } from '../abort.ts';
import { Failure, localFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import { redirectTarget, type TokenSource } from '../transport/client.ts';
import { bodyText, readEnvelope } from '../transport/envelope.ts';
import { type ExchangeContext, exchange } from '../transport/exchange.ts';
import { isSuccess } from '../transport/send.ts';
import { factsInToken, readScopes, type TokenFacts, type TokenListener } from './tokenfacts.ts';

/** Client id and secret, and where a token is issued for them. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Absolute; `grant_type=client_credentials` is added where the query lacks it. */
  readonly tokenUrl: string;
}

/** Where a service without a token endpoint of its own issues tokens (D4). */
export function defaultTokenUrl(baseUrl: string): string {
  return `${baseUrl}/oauth/client_credential/accesstoken`;
}

/** Tokens are renewed this many milliseconds before they expire, or after half their life if that is shorter. */
const MARGIN = 60_000;

/** Milliseconds that a token is used for when its life is unknown. */
const DEFAULT_LIFE = 3_600_000;

/**
 * A token requested with client id and secret, cached in memory until shortly before it expires (D4). `onToken` is
 * called with each one. Its life counts from the request, which is never later than its making.
 */
export function clientCredentialToken(
  credentials: ClientCredentials,
  deps: ExchangeContext,
  onToken?: TokenListener,
): TokenSource {
  let cached: { readonly token: string; readonly until: number } | undefined;
  const request = new SingleFlight(async (signal) => {
    const granted = await requestToken(credentials, deps, signal);
    const { token, requestedAt, expiresAt = requestedAt + DEFAULT_LIFE } = granted;
    cached = { token, until: expiresAt - Math.min(MARGIN, (expiresAt - requestedAt) / 2) };
    onToken?.(granted, true);
    return token;
  });
  return {
    token: (signal) => {
      if (cached !== undefined && deps.clock.now() < cached.until) return Promise.resolve(cached.token);
      return request.join(signal);
    },
    renew: (token) => {
      if (cached?.token === token) cached = undefined;
      return true;
    },
  };
}

/** Work that several callers need at the same time and that runs once for all of them. */
export class SingleFlight<T> {
  private flight: { readonly result: Promise<T>; readonly abort: AbortController; callers: number } | undefined;

  constructor(private readonly start: (signal: AbortSignal) => Promise<T>) {}

  /**
   * Joins the work that runs, or starts it. A caller whose signal is aborted leaves with the signal's reason; the
   * others still get the result. The work itself is aborted when the last one has left.
   */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.flight ??= this.begin();
    const { flight } = this;
    flight.callers++;
    try {
      return await untilAborted(flight.result, signal);
    } finally {
      if (--flight.callers === 0) {
        if (this.flight === flight) this.flight = undefined;
        flight.abort.abort(signal?.reason);
      }
    }
  }

  private begin(): NonNullable<typeof this.flight> {
    const abort = new AbortController();
    const result = this.start(abort.signal).finally(() => {
      if (this.flight === flight) this.flight = undefined;
    });
    // Its callers see its failure; when all have left nobody does.
    result.catch(() => undefined);
    const flight = { result, abort, callers: 0 };
    return flight;
  }
}

interface Granted extends TokenFacts {
  readonly token: string;
  /** UTC milliseconds at which the request for it was sent. */
  readonly requestedAt: number;
}

async function requestToken(
  credentials: ClientCredentials,
  deps: ExchangeContext,
  signal: AbortSignal,
): Promise<Granted> {
  const url = new URL(credentials.tokenUrl);
  if (!url.searchParams.has('grant_type')) url.searchParams.set('grant_type', 'client_credentials');
  const body = new URLSearchParams({
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  }).toString();
  let requestedAt = 0;
  const response = await exchange(deps, {
    make: () => {
      requestedAt = deps.clock.now();
      return {
        method: 'POST',
        url: url.href,
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body,
        signal,
      };
    },
    // A second token does no harm.
    repeatable: true,
    keyed: false,
    accept: bodyText,
    signal,
  });
  const { status, headers, requestId, value = '' } = response;
  if (status >= 300 && status < 400) {
    const where = redirectTarget(headers.location, credentials.tokenUrl);
    throw localFailure('response.redirect', `The token endpoint redirects to ${where} (HTTP ${status}).`, {
      requestId,
      hint: 'Give the address it redirects to as MOLAR_TOKEN_URL if you trust it; molar sends no secret there by itself.',
    });
  }
  if (!isSuccess(status)) throw refused(status, value, requestId);
  const granted = readGrant(value, requestedAt);
  if (granted !== undefined) return granted;
  throw localFailure('response.malformed', 'The response of the token endpoint has no access_token.', {
    requestId,
  });
}

/** Wrong credentials are an authentication failure whichever 4xx the token endpoint uses. */
function refused(status: number, text: string, requestId: string | null): Failure {
  const problems = readEnvelope(text)?.errors ?? [];
  const failure = new ApiFailure(status, problems, requestId);
  if (status < 400 || status >= 500 || status === 408 || status === 429) return failure;
  return new Failure(`No token was issued. ${failure.message}`, {
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
function readGrant(text: string, requestedAt: number): Granted | undefined {
  const grant = jsonOf(text);
  if (!isPlainObject(grant) || typeof grant.access_token !== 'string' || grant.access_token === '') return undefined;
  const { access_token: token, expires_in: life, scope } = grant;
  const own = factsInToken(token);
  const seconds = typeof life === 'string' || typeof life === 'number' ? Number(life) : Number.NaN;
  const isUsable = Number.isFinite(seconds) && seconds > 0;
  return {
    token,
    requestedAt,
    expiresAt: isUsable ? requestedAt + seconds * 1000 : own.expiresAt,
    scopes: readScopes(scope) ?? own.scopes,
  };
}
