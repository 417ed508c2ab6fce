import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/catalog/scopes.ts';
import { createToken } from '../../src/server/tokens/admin.ts';
import { type CallOptions, refusalOf } from '../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { allRecords } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operations, type TestedOperation } from './operations.ts';

/** For each scope a token that has all the others. */
const lacking = SCOPES.map((scope) => ({
  type: 'AccessToken',
  token: `all-but-${scope}`,
  organizations: [ORGANIZATION],
  scopes: SCOPES.filter((other) => other !== scope),
}));

const service = sharedService(() => [...allRecords(), ...lacking]);

/** Scopes from the specification (Authentication 3) and D3, not from the catalog. */
function scopeOf({ operation }: TestedOperation): string {
  if (operation.path === '/locationproductionnetschedule') return 'practice:read';
  return operation.method === 'GET' ? 'model:read' : 'model:write';
}

/** A request that is wrong in every later step too: its query, its body and its record. */
const WRONG: CallOptions & { id: string } = {
  id: 'no-such-id',
  query: { filter: 'nosuch==1', responseFields: 'nosuch', pageSize: '0', lastId: 'x' },
};
const wrongFor = ({ operation }: TestedOperation) =>
  operation.body === undefined ? WRONG : { ...WRONG, body: { nosuch: 1 } };

const NO_TOKEN: readonly (readonly [name: string, options: CallOptions, code: string])[] = [
  ['no token', { token: null }, 'auth.token_missing'],
  ['an empty header', { token: null, headers: { authorization: '' } }, 'auth.token_missing'],
  ['a header of spaces', { token: null, headers: { authorization: '  ' } }, 'auth.token_missing'],
  ['a malformed token', { token: null, headers: { authorization: TOKENS.full } }, 'auth.token_malformed'],
  ['another scheme', { token: null, headers: { authorization: `Basic ${TOKENS.full}` } }, 'auth.token_malformed'],
  [
    'a scheme that ends with Bearer',
    { token: null, headers: { authorization: `NotBearer ${TOKENS.full}` } },
    'auth.token_malformed',
  ],
  ['no token after Bearer', { token: null, headers: { authorization: 'Bearer ' } }, 'auth.token_malformed'],
  ['two tokens', { token: `${TOKENS.full} ${TOKENS.read}` }, 'auth.token_malformed'],
  ['an unknown token', { token: 'nosuch' }, 'auth.token_unknown'],
  ['a token in other letters', { token: TOKENS.full.toUpperCase() }, 'auth.token_unknown'],
  ['an expired token', { token: TOKENS.expired }, 'auth.token_expired'],
];

describe.each(operations())('%s', (_id, tested) => {
  it.each(NO_TOKEN)('answers 401 to %s, whatever else is wrong (D2)', async (_name, options, code) => {
    for (const rest of [{ organization: null }, wrongFor(tested)]) {
      const called = await callSample(service, tested, { ...rest, ...options });
      expect(refusalOf(called)).toEqual({ status: 401, errors: [`${code} Authorization`] });
    }
  });

  it('answers 400 without an Organization-ID, before scopes and validation', async () => {
    for (const organization of [null, '', '  ']) {
      for (const rest of [{}, { token: TOKENS.none }, wrongFor(tested)]) {
        const called = await callSample(service, tested, { ...rest, organization });
        expect(refusalOf(called)).toEqual({ status: 400, errors: ['request.organization_missing Organization-ID'] });
      }
    }
  });

  it('answers 403 to the token of another organization, before validation', async () => {
    for (const rest of [{}, wrongFor(tested)]) {
      const called = await callSample(service, tested, { ...rest, token: TOKENS.other });
      expect(refusalOf(called)).toEqual({ status: 403, errors: ['auth.organization_forbidden Organization-ID'] });
    }
    const unknown = await callSample(service, tested, { organization: 'nosuch' });
    expect(refusalOf(unknown)).toEqual({ status: 403, errors: ['auth.organization_forbidden Organization-ID'] });
  });

  it('answers 403 without its scope, before validation, and names the scope', async () => {
    const scope = scopeOf(tested);
    for (const rest of [{}, wrongFor(tested)]) {
      for (const token of [`all-but-${scope}`, TOKENS.none]) {
        const called = await callSample(service, tested, { ...rest, token });
        expect(refusalOf(called)).toEqual({ status: 403, errors: ['auth.scope_missing Authorization'] });
        expect(called.body.errors[0]?.description).toContain(scope);
      }
    }
  });

  it('needs no other scope', async () => {
    const token = { 'model:read': TOKENS.read, 'model:write': TOKENS.write, 'practice:read': TOKENS.practice }[
      scopeOf(tested)
    ];
    const called = await callSample(service, tested, { ...wrongFor(tested), token: token ?? '' });
    expect([200, 400, 404]).toContain(called.status);
  });
});

describe('a token', () => {
  it('works for each of its organizations', async () => {
    for (const organization of [ORGANIZATION, OTHER_ORGANIZATION]) {
      const called = await service.call('GET', '/patients', { token: TOKENS.both, organization });
      expect(called.status).toBe(200);
    }
  });

  it('works under "bearer" in any letter case', async () => {
    const called = await service.call('GET', '/patients', {
      token: null,
      headers: { authorization: `bEARER ${TOKENS.read}` },
    });
    expect(called.status).toBe(200);
  });

  it('works after more than one space (RFC 9110, section 11.4)', async () => {
    const called = await service.call('GET', '/patients', {
      token: null,
      headers: { authorization: `Bearer  ${TOKENS.read} ` },
    });
    expect(called.status).toBe(200);
  });

  it('that only reads may read with GET and HEAD, and change nothing, whatever its scopes', async () => {
    const { token } = await createToken(service.service, {
      ...{ organizations: [ORGANIZATION], scopes: ['model:read', 'model:write'], readOnly: true },
    });
    const status = async (method: 'GET' | 'HEAD') => (await service.call(method, '/patients', { token })).status;
    expect([await status('GET'), await status('HEAD')]).toEqual([200, 200]);
    const changed = await service.call('POST', '/patients', { token, body: {} });
    expect(refusalOf(changed)).toEqual({ status: 403, errors: ['auth.scope_missing Authorization'] });
  });
});

describe('an unknown route below /api/v1', () => {
  it.each([
    ['no token', { token: null }, 401],
    ['no organization', { organization: null }, 400],
    ['another organization', { organization: OTHER_ORGANIZATION }, 403],
    ['a token without scopes', { token: TOKENS.none }, 404],
  ])('answers %s first', async (_name, options, status) => {
    for (const path of ['/nosuch', '/patients/1/nosuch', '/patients/1/2/3']) {
      const called = await service.call('GET', path, options);
      expect(called.status).toBe(status);
      expect(called.body).toMatchObject({ statusCode: status, data: null, warnings: [] });
    }
  });
});
