import { decodeJwt, errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { type Refusal, refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';
import type { Grant } from '../tokens/tokens.ts';
import { IssuerKeys, type KeySet, type OnIssuer } from './issuerkeys.ts';
import { grantId, isName, type RightsOf } from './rules.ts';

/** Signatures with a private key that only the issuer has. */
const ALGORITHMS = ['RS', 'PS', 'ES']
  .flatMap((kind) => [256, 384, 512].map((bits) => `${kind}${bits}`))
  .concat('EdDSA');

/** What `typ` says of an access token, or of an ID token; a token of any other type was made for something else (RFC 8725, 3.11). */
const TYPES = /^(?:application\/)?(?:at\+)?jwt$/i;

/** Seconds by which the clock of the issuer may differ. */
const TOLERANCE = 60;

/** The last second of the year 9999: no time is later. */
const END_OF_TIME = 253_402_300_799;

/** Whose tokens are taken, and what they may do. */
export interface IssuerOptions {
  /** Exactly as the issuer writes its name. */
  readonly issuer: string;
  readonly audience: string;
  readonly rights: RightsOf;
}

/** An issuer of OpenID Connect, whose signed tokens people send as bearer tokens (contract §8). */
export class Issuer {
  private readonly keys: IssuerKeys;

  constructor(
    private readonly options: IssuerOptions,
    private readonly clock: Clock,
    tell: OnIssuer,
  ) {
    this.keys = new IssuerKeys(options.issuer, clock, tell);
  }

  start(): void {
    this.keys.start();
  }

  stop(): void {
    this.keys.stop();
  }

  /** Whether a bearer token says that it is of this issuer. Nothing about it is proven yet. */
  isNamedBy(token: string): boolean {
    if (!token.includes('.')) return false;
    try {
      return decodeJwt(token).iss === this.options.issuer;
    } catch {
      return false;
    }
  }

  /** What the holder of a token may do. Throws a Refusal: 401, or 503 when the key may be one that is not known yet. */
  async grantOf(token: string): Promise<Grant> {
    const { payload, protectedHeader } = await this.verify(token);
    const typ: unknown = protectedHeader.typ;
    const { sub, exp, iat } = payload;
    const now = this.clock();
    const latest = now / 1000 + TOLERANCE;
    if (!(typ === undefined || (typeof typ === 'string' && TYPES.test(typ)))) throw refused('its type');
    if (iat !== undefined && !(iat <= latest)) throw refused('"iat"');
    if (exp === undefined || !(exp <= END_OF_TIME)) throw refused('"exp"');
    if (!isName(sub)) throw refused('"sub"');
    return {
      ...this.options.rights(payload),
      id: grantId('person', this.options.issuer, sub),
      who: `person ${sub}`,
      label: null,
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date((exp + TOLERANCE) * 1000).toISOString(),
    };
  }

  private async verify(token: string): Promise<JWTVerifyResult<JWTPayload>> {
    let fault: unknown;
    // The second time with new keys, if the issuer has any: it is not asked again at once.
    for (let attempts = 0; attempts < 2; attempts++) {
      // The first tokens after the start may come before the first keys.
      const keys = this.keys.current ?? ((await this.keys.renew()) ? this.keys.current : undefined);
      if (keys === undefined) throw away();
      try {
        return await this.verifyWith(token, keys);
      } catch (error) {
        fault = error;
        if (!lacksKey(error) || !(await this.keys.renew())) break;
      }
    }
    if (fault instanceof errors.JWKSNoMatchingKey && this.keys.isAway) throw away();
    throw refusalOf(fault);
  }

  private async verifyWith(token: string, keys: KeySet): Promise<JWTVerifyResult<JWTPayload>> {
    const options = {
      algorithms: ALGORITHMS,
      issuer: this.options.issuer,
      audience: this.options.audience,
      clockTolerance: TOLERANCE,
      currentDate: new Date(this.clock()),
    };
    try {
      return await jwtVerify(token, keys, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // A token need not say which of several keys has signed it.
      for await (const key of error) {
        try {
          return await jwtVerify(token, key, options);
        } catch (fault) {
          if (!(fault instanceof errors.JWSSignatureVerificationFailed)) throw fault;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }
}

/** Whether another key might do: none has the id, or that of the same id is another one. */
function lacksKey(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}

/** Anything that goes wrong with a token is the token's fault, whatever it made the library throw. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired)
    return refusal('auth.token_expired', 'Authorization', 'The token has expired.');
  if (error instanceof errors.JWTClaimValidationFailed) return refused(`"${error.claim}"`);
  return refused('its signature');
}

function refused(what: string): Refusal {
  return refusal('auth.token_unknown', 'Authorization', `The token is not accepted because of ${what}.`);
}

function away(): Refusal {
  return refusal('server.unavailable', null, 'The issuer of this token does not answer, so its key is not known.');
}
