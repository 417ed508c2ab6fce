import { describe, expect, it } from 'vitest';
import { type CallOptions, refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { ELSEWHERE, LOCATIONS, OTHER_ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';
import { sharedService, testService } from '../../support/service.ts';
import { callSample, changedBody, newBody, operations, operationsThat, sample } from '../operations.ts';

/** OWASP API Security Top 10, 2023, the first five; the others are in owasp6to10.test.ts. What is tested whole elsewhere is named; here is one case or more of each. */
const service = sharedService();

describe('API1 broken object level authorization', () => {
  it('an id of another organization is no record here, whoever asks for it (whole: tenants.test.ts)', async () => {
    for (const token of [TOKENS.full, TOKENS.both]) {
      const called = await service.call('GET', `/patients/${ELSEWHERE.patient}`, { token });
      expect(refusalOf(called)).toEqual({ status: 404, errors: ['record.not_found id'] });
    }
    const there = { token: TOKENS.both, organization: OTHER_ORGANIZATION };
    expect((await service.call('GET', `/patients/${ELSEWHERE.patient}`, there)).status).toBe(200);
  });

  it('an organization in the body, the query or the path does not stand for that of the header', async () => {
    const query = { organizationId: OTHER_ORGANIZATION, 'Organization-ID': OTHER_ORGANIZATION };
    const named = await service.call('GET', '/patients', { token: TOKENS.both, query });
    const plain = await service.call('GET', '/patients', { token: TOKENS.both });
    expect(named.body.data).toEqual(plain.body.data);
    for (const name of ['organizationId', 'organization', 'org']) {
      const body = { tagText: 'x', isPredefined: false, tagType: 'PAYMENT_TAG', [name]: OTHER_ORGANIZATION };
      const called = await service.call('POST', '/transactiontags', { token: TOKENS.both, body });
      expect(refusalOf(called)).toEqual({ status: 400, errors: [`body.unknown_property ${name}`] });
    }
  });
});

describe('API2 broken authentication', () => {
  it('a token is taken from the Authorization header alone (whole: matrix.test.ts, secrets.test.ts)', async () => {
    const elsewhere: CallOptions[] = [
      { query: { access_token: TOKENS.full, token: TOKENS.full, authorization: `Bearer ${TOKENS.full}` } },
      { headers: { cookie: `token=${TOKENS.full}; Authorization=Bearer ${TOKENS.full}` } },
      { headers: { 'x-api-key': TOKENS.full, 'x-access-token': TOKENS.full, 'proxy-authorization': TOKENS.full } },
    ];
    for (const options of elsewhere) {
      const called = await service.call('GET', '/patients', { token: null, ...options });
      expect(refusalOf(called)).toEqual({ status: 401, errors: ['auth.token_missing Authorization'] });
      expect(called.text).not.toContain(TOKENS.full);
    }
  });

  it('no refusal repeats a token or says how near it was', async () => {
    const answers = await Promise.all(
      ['token-ful', 'token-fulm', 'x', TOKENS.full.toUpperCase()].map((token) =>
        service.call('GET', '/patients', { token }),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const expired = await service.call('GET', '/patients', { token: TOKENS.expired });
    expect(expired.text).not.toContain(TOKENS.expired);
  });
});

/** Names that other services were taken over with. */
const FORBIDDEN = [
  '__proto__',
  'constructor',
  'prototype',
  'isAdmin',
  'role',
  'scopes',
  'org',
  'organization_id',
  'json',
];

describe('API3 broken object property level authorization', () => {
  it.each(operations('create'))('%s: read-only properties are ignored with a warning each', async (_id, tested) => {
    const readOnly = Object.entries(tested.resource.fields).filter(([, { access }]) => access === 'readOnly');
    const plain = rowOf(await callSample(service, tested, { body: newBody(tested) }));
    const extra = Object.fromEntries(readOnly.map(([name]) => [name, forged(plain[name])]));
    const called = await callSample(service, tested, { body: { ...newBody(tested), ...extra } });
    expect(called.status, called.text).toBe(201);
    const made = rowOf(called);
    for (const [name, value] of Object.entries(extra)) expect([name, made[name]]).not.toEqual([name, value]);
    const warned = called.body.warnings.map(({ source }) => source);
    expect(readOnly.map(([name]) => name).filter((name) => !warned.includes(name))).toEqual([]);
  });

  it.each(operations('create', 'update'))(
    '%s: an unknown property is refused and changes nothing',
    async (_id, tested) => {
      const own = tested.operation.shape === 'create' ? () => newBody(tested) : () => changedBody(tested);
      const list = () => service.call('GET', `/${tested.resource.name}`);
      const before = (await list()).text;
      for (const name of FORBIDDEN) {
        const text = JSON.stringify({ ...own(), MARK: true }).replace('"MARK"', JSON.stringify(name));
        const called = await callSample(service, tested, { body: text });
        expect([name, called.status]).toEqual([name, 400]);
      }
      expect((await list()).text).toBe(before);
      expect(({} as WireRecord).isAdmin).toBeUndefined();
    },
  );

  it('an answer has the properties of its catalog alone', async () => {
    for (const [id, tested] of operations('list', 'get')) {
      const called = await callSample(service, tested);
      const { data } = called.body;
      const known = [...Object.keys(tested.operation.fields ?? tested.resource.fields), 'id', 'type'];
      for (const record of [data].flat() as WireRecord[])
        expect([id, Object.keys(record).filter((name) => !known.includes(name))]).toEqual([id, []]);
    }
  });
});

/** Another value of the same form. */
function forged(value: unknown): unknown {
  if (typeof value === 'number') return value + 5_000;
  if (typeof value === 'string') return `${value.slice(0, -2)}zz`;
  if (typeof value === 'boolean') return !value;
  return Array.isArray(value) ? [{ id: 5 }] : { id: 5 };
}

describe('API4 unrestricted resource consumption', () => {
  it('a page has at most 500 records, and no parameter makes it larger', async () => {
    for (const [id, tested] of operations('list')) {
      if (tested.operation.paging === undefined) continue;
      for (const pageSize of ['501', '100000', '99999999999999999999', '-1', '1e9', 'all']) {
        const { query } = sample(tested);
        const called = await callSample(service, tested, { query: { ...query, pageSize } });
        expect([id, pageSize, called.status]).toEqual([id, pageSize, 400]);
      }
    }
  });

  it('a body has at most 1 MiB, a document the size that is set, however it is sent', async () => {
    const small = await testService(undefined, { maxDocumentBytes: 1000 });
    const content = Buffer.alloc(1001).toString('base64');
    const body = { name: 'x', mimeType: 'PDF', file: { content } };
    expect((await small.call('POST', '/documents', { body })).status).toBe(413);
    await small.close();
    for (const [id, tested] of operationsThat(({ body: fields, largeBody }) => fields !== undefined && !largeBody)) {
      const called = await callSample(service, tested, { body: { x: 'x'.repeat(1024 * 1024) } });
      expect([id, called.status]).toEqual([id, 413]);
    }
  });

  it('requests, failed authentication and time are limited (whole: ratelimit, secrets and timeouts tests)', async () => {
    const limited = await testService(undefined, { rateLimit: 1 });
    const statuses: number[] = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await limited.call('GET', '/patients')).status);
    expect(statuses).toEqual([200, 200, 429]);
    const { server } = limited.app;
    expect([server.requestTimeout, server.headersTimeout, server.keepAliveTimeout].every((ms) => ms > 0)).toBe(true);
    await limited.close();
  });

  it('a report covers 92 days at most', async () => {
    const filter = `location.id==${LOCATIONS.east},startDate==2026-01-01,endDate==2026-04-03`;
    const called = await service.call('GET', '/scheduleopenings', { query: { filter } });
    expect([called.status, called.body.errors[0]?.source]).toEqual([400, 'endDate']);
  });
});

describe('API5 broken function level authorization', () => {
  it('nothing that writes is reached with a scope that reads, by any method or header (whole: matrix.test.ts)', async () => {
    const id = PATIENTS.cleo;
    const before = (await service.call('GET', `/patients/${id}`)).text;
    for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      const headers = { [header]: 'PUT' };
      const options = { token: TOKENS.read, headers, query: { _method: 'PUT' } };
      expect((await service.call('GET', `/patients/${id}`, options)).status).toBe(200);
      const body = { firstName: 'Changed' };
      expect((await service.call('POST', `/patients/${id}`, { ...options, body })).status).toBe(405);
    }
    for (const path of [`/patients/${id}`, `/patients//${id}`, `/PATIENTS/${id}`, `/./patients/${id}`]) {
      const called = await service.call('PUT', path, { token: TOKENS.read, body: { firstName: 'Changed' } });
      expect([403, 404]).toContain(called.status);
    }
    expect((await service.call('GET', `/patients/${id}`)).text).toBe(before);
  });
});
