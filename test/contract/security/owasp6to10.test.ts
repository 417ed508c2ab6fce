import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { refusalOf, rowOf, rowsOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { sharedService, testService } from '../../support/service.ts';
import { callSample, newBody, operations, operationsThat, pathFor, sample } from '../operations.ts';
import { ACCESS, routesOf } from './routes.ts';

/** OWASP API Security Top 10, 2023, the last five; see owasp.test.ts. */
const service = sharedService();

describe('API6 unrestricted access to sensitive business flows', () => {
  it('a flow that is sent again and again does its work once', async () => {
    for (const [id, tested] of operations('create')) {
      const body = newBody(tested);
      const headers = { 'idempotency-key': `flow-${id}` };
      const answers = await Promise.all([1, 2, 3, 4].map(() => callSample(service, tested, { body, headers })));
      const made = answers.filter(({ status }) => status === 201).map((called) => rowOf(called).id);
      expect([id, new Set(made).size]).toEqual([id, 1]);
      expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    }
  });
});

describe('API7 server side request forgery', () => {
  it('nothing that a request holds is fetched', async () => {
    let fetched = 0;
    const trap = createServer((_request, response) => response.end(String(fetched++)));
    trap.on('connection', () => fetched++);
    await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/x`;
    const own = await testService(undefined, { behindProxy: true });
    const headers = {
      'x-forwarded-host': new URL(url).host,
      'x-forwarded-for': '127.0.0.1',
      referer: url,
      origin: url,
      'x-callback-url': url,
    };
    for (const [, tested] of operations()) {
      const { query, body } = sample(tested);
      const bodies = body === undefined ? [undefined] : [body, withText(body, url), { ...(body as object), url }];
      for (const each of bodies) {
        await callSample(own, tested, { headers, body: each, query: { ...query, callback: url, url } });
      }
    }
    const file = { name: 'x', mimeType: 'PDF', file: { content: url, url, href: url } };
    await own.call('POST', '/documents', { body: file, headers });
    await own.service.deliveries.idle();
    await own.close();
    await new Promise((done) => trap.close(done));
    expect(fetched).toBe(0);
  });
});

function withText(body: unknown, text: string): unknown {
  if (Array.isArray(body)) return body.map((item) => withText(item, text));
  if (typeof body === 'object' && body !== null)
    return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withText(value, text)]));
  return typeof body === 'string' ? text : body;
}

describe('API8 security misconfiguration', () => {
  it('an answer tells nothing of what is inside (whole: headers.test.ts and http.test.ts)', async () => {
    for (const path of [
      '/patients/%00',
      '/documents/..%2f..%2fmolar.db',
      '//.env',
      '//.git/config',
      '//../package.json',
    ]) {
      const called = await service.call('GET', path);
      expect([400, 404]).toContain(called.status);
      expect(called.text).not.toMatch(/node_modules|\/src\/|SELECT|sqlite|at \w+ \(/i);
    }
  });

  it('a request without a body is refused like any other (D5)', async () => {
    for (const [id, tested] of operationsThat(({ body }) => body !== undefined)) {
      const { id: record, query } = sample(tested);
      const path = pathFor(tested, record);
      const called = await service.call(tested.operation.method, path, { ...(query && { query }) });
      expect([id, refusalOf(called)]).toEqual([id, { status: 400, errors: ['body.shape body'] }]);
    }
  });

  it('no origin but its own is let in by a browser', async () => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin: 'https://evil.example', 'access-control-request-method': 'GET' };
      const called = await service.call(method, '/patients', { headers });
      expect(Object.keys(called.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('API9 improper inventory management', () => {
  it('every route is described, and nothing is described that is none', async () => {
    const { paths } = JSON.parse((await service.call('GET', '//openapi.json')).text) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, ':')}`),
    );
    const served = routesOf(service.app).filter((route) => !route.startsWith('HEAD '));
    expect(described.toSorted()).toEqual(served.map((route) => route.replace(/:\w+/g, ':')).toSorted());
  });

  it('no other version and no place of old is served', async () => {
    expect(Object.keys(ACCESS).filter((route) => route.includes('/api/') && !route.includes('/api/v1/'))).toEqual([]);
    for (const path of [
      '//api/v2/patients',
      '//api/patients',
      '//v1/patients',
      '//beta/patients',
      '//admin',
      '//debug',
    ])
      expect((await service.call('GET', path)).status).toBe(404);
  });
});

describe('API10 unsafe consumption of APIs', () => {
  // That commands follow no redirect with a token or a secret: test/acceptance/redirects.test.ts.
  it('of a row that a caller brings, no more than its fields is taken over', async () => {
    const called = await service.call('POST', '/documents', {
      body: { name: 'x', mimeType: 'PDF', file: { content: PDF, sha256: 'x', path: '/etc/passwd', guid: '../x' } },
    });
    expect(called.status).toBe(400);
    expect(rowsOf(await service.call('GET', '/documents')).some(({ name }) => name === 'x.pdf')).toBe(false);
  });
});
