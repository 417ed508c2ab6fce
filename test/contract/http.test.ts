import { describe, expect, it } from 'vitest';
import { API_PREFIX, allOperations } from '../../src/catalog/catalog.ts';
import { type Called, type CallOptions, refusalOf } from '../support/calls.ts';
import { TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operations, operationsThat, pathFor, type TestedOperation } from './operations.ts';

const service = sharedService();
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/** Methods of every path of the catalog. */
function methodsByPath(): [path: string, methods: string[]][] {
  const found = new Map<string, string[]>();
  for (const { operation } of allOperations()) {
    found.set(operation.path, [...(found.get(operation.path) ?? []), operation.method]);
  }
  return [...found];
}

describe.each(methodsByPath())('%s', (path, methods) => {
  // A fixed path such as /patients/totalcount is also an id of the path beside it.
  const template = path.replace(/\/[^/{]+$/, '/{id}');
  const also = path.includes('{')
    ? []
    : (methodsByPath().find(([other]) => other.replace(/\{\w+\}/, '{id}') === template)?.[1] ?? []);
  const served = new Set([...methods, ...also, 'HEAD']);

  it.each(METHODS.filter((method) => !served.has(method)))(
    'refuses %s with the methods it takes (D5)',
    async (method) => {
      const called = await service.call(method, path.replace(/\{\w+\}/, '5'));
      expect(refusalOf(called)).toEqual({ status: 405, errors: ['route.method null'] });
      expect(new Set(called.headers.allow?.split(', '))).toEqual(new Set([...methods, ...also]));
    },
  );
});

describe('an unknown route', () => {
  it.each(['/nosuch', '/PATIENTS', '/patients/5/nosuch', '/documents/5/6', '/'])(
    '%s answers 404 in the envelope',
    async (path) => {
      const called = await service.call('GET', path);
      expect(refusalOf(called)).toEqual({ status: 404, errors: ['route.unknown null'] });
      expect(called.body).toMatchObject({ statusCode: 404, data: null, warnings: [] });
    },
  );

  it('outside the API needs no token', async () => {
    const called = await service.call('GET', '//nosuch', { token: null, organization: null });
    expect(refusalOf(called)).toEqual({ status: 404, errors: ['route.unknown null'] });
  });

  it('below /beta is unknown too (D45)', async () => {
    expect((await service.call('GET', '//beta/locationproductionnetschedule')).status).toBe(404);
  });

  it.each(['/patients/', '/patients/%', '/patients/%zz', '/patients/%c3%28'])(
    '%s answers in the envelope',
    async (path) => {
      const called = await service.call('GET', path);
      expect([400, 404]).toContain(called.status);
      expect(called.body).toMatchObject({ statusCode: called.status, data: null, warnings: [] });
    },
  );
});

const withBody = operationsThat((operation) => operation.method === 'POST' || operation.method === 'PUT');

describe.each(withBody)('%s', (_id, tested) => {
  const send = (body: unknown, options: CallOptions = {}): Promise<Called> =>
    callSample(service, tested, { ...options, body });

  it.each(['{', '{"a":1}x', '{"a":1,}', "{'a':1}", 'nonsense', '', '{"a":"\n"}'])(
    'refuses %j, which is no JSON',
    async (text) => {
      expect(refusalOf(await send(text))).toEqual({ status: 400, errors: ['body.not_json body'] });
    },
  );

  it('reads past a byte order mark', async () => {
    expect(refusalOf(await send('\ufeff{'))).toEqual({ status: 400, errors: ['body.not_json body'] });
    expect(refusalOf(await send('\ufeff5'))).toEqual({ status: 400, errors: ['body.shape body'] });
  });

  it('refuses bytes that are no UTF-8', async () => {
    expect(refusalOf(await send(Buffer.from('{"name":"\xff"}', 'latin1')))).toEqual({
      status: 400,
      errors: ['body.not_json body'],
    });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonx',
    'application/json; charset=latin1',
  ])('refuses %s (D5)', async (type) => {
    expect(refusalOf(await send('{}', { headers: { 'content-type': type } }))).toEqual({
      status: 415,
      errors: ['body.media_type null'],
    });
  });

  it.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset="UTF-8"'])(
    'takes %s',
    async (type) => {
      const called = await send('{', { headers: { 'content-type': type } });
      expect(refusalOf(called)).toEqual({ status: 400, errors: ['body.not_json body'] });
    },
  );

  it('refuses more than 1 MiB beside a file', async () => {
    const called = await send({ nosuch: 'x'.repeat(1024 * 1024) });
    expect(called.status).toBe(413);
    expect(called.body.errors[0]?.code).toBe('body.too_large');
  });

  it('asks who is calling before it reads the body', async () => {
    const called = await send('{', { token: null, headers: { 'content-type': 'text/plain' } });
    expect(called.status).toBe(401);
  });
});

describe.each(operations())('%s', (_id, tested) => {
  it('echoes the request id of the caller, success or not (D5)', async () => {
    for (const options of [{}, { token: null }, { id: 'abc', query: { filter: 'nosuch' } }]) {
      const headers = { 'x-request-id': 'my-request_1/~!' };
      expect((await callSample(service, tested, { ...options, headers })).headers['x-request-id']).toBe(
        'my-request_1/~!',
      );
    }
  });

  it('sends nothing that lets answers be kept or guessed at', async () => {
    const { headers } = await callSample(service, tested, { id: 'abc' });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(headers).not.toHaveProperty('x-powered-by');
  });
});

describe('X-Request-ID', () => {
  const idFor = async (sent: Readonly<Record<string, string>>) =>
    (await service.call('GET', '/patients', { headers: sent })).headers['x-request-id'] ?? '';

  it.each(['', 'with space', 'x'.repeat(201), 'tab\there', '\u00e9'])('%j is replaced by one of ours', async (sent) => {
    const id = await idFor({ 'x-request-id': sent });
    expect(id).not.toBe(sent);
    expect(id).toMatch(/^[\x21-\x7e]{8,200}$/);
  });

  it('may have 200 characters', async () => {
    expect(await idFor({ 'x-request-id': 'x'.repeat(200) })).toBe('x'.repeat(200));
  });

  it('is given to every request, and differs', async () => {
    expect(await idFor({})).not.toBe(await idFor({}));
  });

  it('comes with routes outside the API, and with refusals of the framework', async () => {
    for (const path of ['//healthz', '//nosuch', '/patients/%zz']) {
      const called = await service.call('GET', path, { headers: { 'x-request-id': 'mine' } });
      expect(called.headers['x-request-id']).toBe('mine');
    }
  });
});

describe('a failure', () => {
  it('tells nothing of the server', async () => {
    const odd = ["'; DROP TABLE patients;--", '{{7*7}}', '../../etc/passwd', '%00', 'x'.repeat(5000)];
    const reads = operations().filter(([, { operation }]) => operation.method === 'GET') as [string, TestedOperation][];
    for (const [, tested] of reads) {
      for (const text of odd) {
        for (const query of [{ filter: text, responseFields: text, pageSize: text }, { filter: `lastName==${text}` }]) {
          const called = await service.call('GET', pathFor(tested, text.slice(0, 60)), { query });
          expect(called.status).toBeLessThan(500);
          expect(called.text).not.toMatch(/SELECT|SQLITE|node_modules|\.ts:|\.js:/);
        }
      }
    }
  });
});

describe('health', () => {
  it.each(['//healthz', '//readyz'])('%s needs no token', async (path) => {
    const called = await service.call('GET', path, { token: null, organization: null });
    expect(called.status).toBe(200);
  });

  it('HEAD answers like GET without a body', async () => {
    const called = await service.call('HEAD', '/patients', { token: TOKENS.read });
    expect([called.status, called.text]).toEqual([200, '']);
    expect(API_PREFIX).toBe('/api/v1');
  });
});
