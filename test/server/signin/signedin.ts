import { Issuer } from '../../../src/server/signin/issuer.ts';
import { parseRules } from '../../../src/server/signin/rules.ts';
import { TestClock } from '../../support/clock.ts';
import { ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { type IssuerKey, issuerKey, TestIssuer } from '../../support/issuer.ts';
import { type TestService, testService } from '../../support/service.ts';

export const AUDIENCE = 'https://molar.practice.example';

/** Dentists may do everything in the practice; others, what their claims say. */
const RULES = [
  { when: { role: 'dentist' }, organizations: [ORGANIZATION], scopes: ['model:read', 'model:write', 'practice:read'] },
  { when: { role: 'auditor' }, organizations: [ORGANIZATION], scopes: ['model:read', 'model:write'], readOnly: true },
  { when: { role: 'guest' }, organizations: { claim: 'orgs' }, scopes: { claim: 'scope' } },
];

interface Options {
  readonly keys?: readonly IssuerKey[];
  /** A part of the issuer's name. */
  readonly path?: string;
  readonly store?: 'sqlite' | 'postgres';
  readonly failedAttempts?: number;
  /** Prepares the issuer before the server starts. */
  readonly before?: (issuer: TestIssuer) => unknown;
}

/** A service and the issuer whose tokens it takes. `told` is what the server's log hears of the issuer. */
export interface SignedIn {
  readonly issuer: TestIssuer;
  readonly service: TestService;
  readonly clock: TestClock;
  readonly told: string[];
  /** Claims of a good token of a dentist, for five minutes. */
  claims(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** The status with which a token reads a patient. */
  status(token: string): Promise<number>;
  close(): Promise<void>;
}

/** Opens both. */
export async function signedIn({
  keys = [issuerKey('ES256')],
  path,
  before,
  ...options
}: Options = {}): Promise<SignedIn> {
  const issuer = await TestIssuer.open(path);
  issuer.keys = [...keys];
  await before?.(issuer);
  const clock = new TestClock();
  const told: string[] = [];
  const rights = parseRules(JSON.stringify({ rules: RULES }));
  if (typeof rights !== 'function') throw new Error(rights.join());
  const tell = (state: string, reason: string) => void told.push(`${state} ${reason}`);
  const own = new Issuer({ issuer: issuer.url, audience: AUDIENCE, rights }, clock.now, tell);
  const service = await testService(undefined, { ...options, clock, signIn: { issuer: own } });
  const seconds = () => Math.floor(clock.now() / 1000);
  return {
    issuer,
    service,
    clock,
    told,
    claims: (more = {}) => ({
      ...{ iss: issuer.url, aud: AUDIENCE, sub: 'ann', role: 'dentist' },
      ...{ iat: seconds(), exp: seconds() + 300 },
      ...more,
    }),
    status: async (token) => (await service.call('GET', `/patients/${PATIENTS.ann}`, { token })).status,
    close: async () => {
      await service.close();
      await issuer.close().catch(() => {});
    },
  };
}
