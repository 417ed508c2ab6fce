import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Certificates, type Presented } from '../../../src/server/signin/certificates.ts';
import { Issuer } from '../../../src/server/signin/issuer.ts';
import type { RightsOf } from '../../../src/server/signin/rules.ts';
import { TestClock } from '../../support/clock.ts';
import { issuerKey, TestIssuer } from '../../support/issuer.ts';

const RIGHTS = { organizations: ['a'], scopes: [], locations: null, readOnly: false };
const rights: RightsOf = () => RIGHTS;

describe('what a certificate grants', () => {
  const certificates = new Certificates(rights);
  const subject = { CN: 'kiosk', O: 'Practice', OU: 'Desk' } as Presented['certificate']['subject'];
  const certificate = {
    ...{ subject, fingerprint256: 'AB:CD' },
    ...{ valid_from: 'Jan  2 00:00:00 2026 GMT', valid_to: 'Mar  4 00:00:00 2026 GMT' },
  };
  const END = Date.UTC(2026, 2, 4);
  const grantOf = (change: Partial<typeof certificate> = {}, now = END - 1) => {
    const socket = new Socket();
    certificates.accept(socket, { certificate: { ...certificate, ...change } });
    return certificates.grantOf(socket, now);
  };

  it('lasts from its first day to its last, and not at its end', () => {
    expect(grantOf()).toEqual({
      ...{ ...RIGHTS, id: expect.stringMatching(/^[0-9a-f]{32}$/), who: 'certificate kiosk', label: null },
      ...{ createdAt: '2026-01-02T00:00:00.000Z', expiresAt: '2026-03-04T00:00:00.000Z' },
    });
    expect(() => grantOf({}, END)).toThrow('CERT_HAS_EXPIRED');
  });

  it('is the same for the next certificate of a holder, and another for one of another name', () => {
    const { id } = grantOf() ?? {};
    const ids = [{ CN: 'other' }, { O: 'Other' }, { OU: 'Other' }].map(
      (part) => grantOf({ subject: { ...subject, ...part } })?.id,
    );
    expect(grantOf({ fingerprint256: 'EF:01', valid_to: 'Mar  5 00:00:00 2026 GMT' })?.id).toBe(id);
    expect(new Set([id, ...ids]).size).toBe(4);
  });

  it('ends with the connection', () => {
    const socket = new Socket();
    certificates.accept(socket, { certificate });
    expect(certificates.of(socket)).toEqual({ certificate });
    socket.emit('close', false);
    expect(certificates.of(socket)).toBeUndefined();
    expect(certificates.grantOf(socket, 0)).toBeUndefined();
  });
});

describe('what a token of an issuer grants', () => {
  const clock = new TestClock();
  const issuers: TestIssuer[] = [];
  const seconds = () => Math.floor(clock.now() / 1000);
  beforeAll(async () => {
    for (const path of ['/one', '/other']) {
      const issuer = await TestIssuer.open(path);
      issuer.keys = [issuerKey('ES256', { kid: undefined }), issuerKey('ES256', { kid: undefined })];
      issuers.push(issuer);
    }
  });
  afterAll(() => Promise.all(issuers.map((issuer) => issuer.close())));

  async function grantBy(issuer: TestIssuer, claims: Record<string, unknown> = {}) {
    const own = new Issuer({ issuer: issuer.url, audience: 'molar', rights }, clock.now, () => {});
    return own.grantOf(issuer.token({ aud: 'molar', sub: 'ann', exp: seconds() + 300, ...claims }));
  }

  it('lasts from now until a minute after its end, as clocks may differ', async () => {
    const [one] = issuers as [TestIssuer];
    expect(await grantBy(one)).toEqual({
      ...{ ...RIGHTS, id: expect.stringMatching(/^[0-9a-f]{32}$/), who: 'person ann', label: null },
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt: new Date((seconds() + 360) * 1000).toISOString(),
    });
    // The last second of the year 9999.
    expect(await grantBy(one, { exp: 253_402_300_799 })).toMatchObject({ who: 'person ann' });
  });

  it('is of that issuer alone: a subject of another one is somebody else', async () => {
    const [one, other] = await Promise.all(issuers.map((issuer) => grantBy(issuer)));
    expect(one?.who).toBe(other?.who);
    expect(one?.id).not.toBe(other?.id);
  });

  it('is refused for its own fault, also where several keys are tried', async () => {
    const refused = grantBy(issuers[0] as TestIssuer, { exp: seconds() - 60 });
    await expect(refused).rejects.toMatchObject({ problems: [{ code: 'auth.token_expired' }] });
  });
});
