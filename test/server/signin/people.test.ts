import sql from 'sql-template-tag';
import { afterEach, describe, expect, it } from 'vitest';
import { rowOf } from '../../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';
import { testPostgres } from '../../support/services.ts';
import { type SignedIn, signedIn } from './signedin.ts';

let open: SignedIn | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

describe('a person may do', () => {
  it.each<[string, Record<string, unknown>, number, number]>([
    ['what the rule of the role says', { role: 'dentist' }, 200, 201],
    ['what one of several roles gives', { role: ['desk', 'dentist'] }, 200, 201],
    ['nothing without a rule', { role: 'cook' }, 403, 403],
    ['nothing without the claim', { role: undefined }, 403, 403],
    ['no writing where the rule only reads, whatever its scopes', { role: 'auditor' }, 200, 403],
    ['what claims give', { role: 'guest', orgs: [ORGANIZATION], scope: 'openid model:read' }, 200, 403],
    ['nothing by claims that are missing', { role: 'guest' }, 403, 403],
    ['nothing in an organization that does not exist', { role: 'guest', orgs: ['x'], scope: 'model:read' }, 403, 403],
    ['nothing by a scope that does not exist', { role: 'guest', orgs: [ORGANIZATION], scope: 'model:*' }, 403, 403],
  ])('%s', async (_name, more, read, write) => {
    open = await signedIn();
    const { service, issuer, claims } = open;
    const token = issuer.token(claims(more));
    expect((await service.call('GET', `/patients/${PATIENTS.ann}`, { token })).status).toBe(read);
    const body = { tagText: 'Payment plan', isPredefined: false, tagType: 'PAYMENT_TAG' };
    expect((await service.call('POST', '/transactiontags', { token, body })).status).toBe(write);
  });

  it('nothing in another organization, and what is missing is asked for first (D2)', async () => {
    open = await signedIn();
    const { service, issuer, claims } = open;
    const token = issuer.token(claims());
    const at = async (organization: string | null) =>
      (await service.call('GET', `/patients/${PATIENTS.ann}`, { token, organization })).status;
    expect([await at(OTHER_ORGANIZATION), await at(null), await at(ORGANIZATION)]).toEqual([403, 400, 200]);
  });
});

describe.each(['sqlite', 'postgres'] as const)('a person on %s', (store) => {
  it('stands in the audit log, and is the same one with the next token', async (context) => {
    if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    open = await signedIn({ store });
    const { service, issuer, claims, clock } = open;
    const create = (sub: string, tagText: string) =>
      service.call('POST', '/transactiontags', {
        token: issuer.token(claims({ sub, jti: `${sub} ${clock.now()}` })),
        body: { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' },
        headers: { 'idempotency-key': 'one-and-the-same' },
      });
    const first = await create('ann', 'Payment plan');
    clock.advance(1000);
    const again = await create('ann', 'Payment plan');
    const other = await create('bob', 'Second plan');
    expect([first.status, again.status, other.status]).toEqual([201, 201, 201]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(rowOf(again).id).toBe(rowOf(first).id);
    expect(rowOf(other).id).not.toBe(rowOf(first).id);
    const whos = await service.service.store.read.all<{ who: string }>(
      sql`SELECT DISTINCT who FROM audit_entries WHERE operation = 'transactiontags.create' ORDER BY who`,
    );
    expect(whos.map(({ who }) => who)).toEqual(expect.arrayContaining(['person ann', 'person bob']));
  });
});

it('a token that the table knows is none of the issuer, whatever it looks like', async () => {
  open = await signedIn();
  const { service, status } = open;
  const token = 'eyJhbGciOiJub25lIn0.eyJpc3MiOiJodHRwczovL2Vsc2V3aGVyZSJ9.c2lnbmF0dXJl';
  await service.import([{ type: 'AccessToken', token, organizations: [ORGANIZATION], scopes: ['model:read'] }]);
  expect([await status(token), await status(TOKENS.read)]).toEqual([200, 200]);
});

it('failed tokens of the issuer count as attempts of the address, and a good one is never refused by them', async () => {
  open = await signedIn({ failedAttempts: 5 });
  const { issuer, claims, status } = open;
  const bad = () => issuer.token(claims({ aud: 'other' }));
  const statuses = [];
  for (let turn = 0; turn < 7; turn++) statuses.push(await status(bad()));
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(await status(issuer.token(claims()))).toBe(200);
});

it('tokens whose key nobody can know while the issuer is away are no failed attempts', async () => {
  open = await signedIn({ failedAttempts: 2, before: (issuer) => issuer.close() });
  const { issuer, claims, status } = open;
  const statuses = [];
  for (let turn = 0; turn < 4; turn++) statuses.push(await status(issuer.token(claims())));
  expect(statuses).toEqual([503, 503, 503, 503]);
  expect(await status('unknown')).toBe(401);
});
