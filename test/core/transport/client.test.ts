import { describe, expect, it } from 'vitest';
import type { Warning } from '../../../src/catalog/failures.ts';
import { ApiFailure } from '../../../src/core/transport/apifailure.ts';
import type { ApiRequest } from '../../../src/core/transport/client.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { answer, broken, clientOf, failureOf, problem, Script, SleepLog, type Step, success } from './script.ts';

const READ: ApiRequest = { method: 'GET', path: '/api/v1/patients' };
const CREATE: ApiRequest = { method: 'POST', path: '/api/v1/patients', body: { firstName: 'Ann' } };
const PUT: ApiRequest = { method: 'PUT', path: '/api/v1/patients/5', body: { firstName: 'Ann' } };
const DELETE: ApiRequest = { method: 'DELETE', path: '/api/v1/documents/5' };

describe('a request', () => {
  it('carries token, organization and a request id', async () => {
    const script = new Script(success([]));
    const query = { filter: 'lastName~=Sm,id->[1,2]', lastId: 0, nothing: undefined };
    await clientOf(script, { userAgent: 'molar/1' }).request({ ...READ, query });
    expect(script.requests[0]).toMatchObject({
      method: 'GET',
      url: 'https://api.example.com/api/v1/patients?filter=lastName~%3DSm%2Cid-%3E%5B1%2C2%5D&lastId=0',
      headers: {
        accept: 'application/json',
        authorization: 'Bearer secret',
        'organization-id': 'org-1',
        'user-agent': 'molar/1',
        'x-request-id': 'id-1',
      },
    });
    expect(script.requests[0]?.headers).not.toHaveProperty('idempotency-key');
    expect(script.requests[0]).not.toHaveProperty('body');
  });

  it('gives data, meta, warnings and headers', async () => {
    const warning: Warning = { title: 'Deprecated', description: 'page is deprecated.', source: 'page' };
    const body = { data: [{ id: 1 }], warnings: [warning], errors: [], meta: { pagination: { limit: 100 } } };
    const script = new Script(answer(200, body, { etag: 'x' }));
    expect(await clientOf(script).request(READ)).toEqual({
      status: 200,
      data: [{ id: 1 }],
      warnings: [warning],
      meta: { pagination: { limit: 100 } },
      requestId: 'req-1',
      headers: { 'x-request-id': 'req-1', etag: 'x' },
    });
  });

  it('tells each warning once', async () => {
    const warnings = [{ title: 'A', description: 'a', source: null }];
    const script = new Script(success([], { warnings }), success([], { warnings }));
    const told: Warning[] = [];
    const client = clientOf(script, { onWarning: (warning) => told.push(warning) });
    await client.request(READ);
    await client.request(READ);
    expect(told).toEqual(warnings);
  });

  it('puts a character together that was cut between two chunks', async () => {
    expect((await clientOf(new Script(success('é'.repeat(501)))).request(READ)).data).toBe('é'.repeat(501));
  });

  it('sends every attempt of a POST with the same key', async () => {
    const script = new Script(broken(false), answer(429, ''), success({ id: 1 }));
    await clientOf(script).request(CREATE);
    const keys = script.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(['id-1', 'id-1', 'id-1']);
    expect(new Set(script.requests.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
  });

  it('takes the key it is given', async () => {
    const script = new Script(success({ id: 1 }));
    await clientOf(script).request({ ...CREATE, idempotencyKey: 'mine' });
    expect(script.requests[0]?.headers['idempotency-key']).toBe('mine');
  });

  it('opens a source of bytes anew for each attempt', async () => {
    let opened = 0;
    const body = {
      length: 2,
      open: async function* () {
        opened++;
        yield Buffer.from('{}');
      },
    };
    const read = async (request: { body?: unknown }) => {
      const source = request.body as typeof body;
      for await (const _ of source.open());
    };
    const script = new Script(broken(false), success({ id: 1 }));
    const send: typeof script.send = async (request) => {
      await read(request);
      return script.send(request);
    };
    await clientOf(script, { send }).request({ ...CREATE, body });
    expect(opened).toBe(2);
  });
});

describe('retries', () => {
  it.each<[string, ApiRequest, Step[]]>([
    ['a read that was cut off', READ, [broken(true)]],
    ['a read whose body is cut off', READ, [answer(200, '{"data":[{"id":1}', { 'content-length': '400' })]],
    ['a read whose body is half of JSON', READ, [answer(200, '{"data":[')]],
    ['a read that a proxy answered', READ, [answer(200, '<html>Sign in</html>')]],
    ['a read with JSON that is no envelope', READ, [answer(200, '[]')]],
    ['a read with 500, 502, 503 and 504', READ, [answer(500, ''), answer(502, ''), answer(503, ''), answer(504, '')]],
    ['a read with 408 and 429', READ, [answer(408, ''), answer(429, '')]],
    ['an update that was cut off', PUT, [broken(true)]],
    ['a POST that never left', CREATE, [broken(false)]],
    ['a POST over the rate limit', CREATE, [answer(429, '')]],
    [
      'a POST that is safe to repeat',
      { ...CREATE, repeatable: true },
      [broken(true), answer(500, ''), answer(504, '')],
    ],
  ])('%s', async (_name, request, steps) => {
    const script = new Script(...steps, success({ id: 1 }));
    expect((await clientOf(script).request(request)).data).toEqual({ id: 1 });
    expect(script.requests).toHaveLength(steps.length + 1);
  });

  it.each([400, 403, 404, 405, 413, 415, 501])('never repeat a read with %i', async (status) => {
    const script = new Script(answer(status, ''));
    expect((await failureOf(clientOf(script).request(READ))).status).toBe(status);
  });

  it('end after six attempts, with doubling steps', async () => {
    const clock = new SleepLog();
    const script = new Script(...Array.from({ length: 6 }, () => answer(503, '')));
    const failure = await failureOf(clientOf(script, { clock }).request(READ));
    expect(failure).toMatchObject({ status: 503, exitCode: 8, requestId: 'req-1' });
    expect(clock.sleeps).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  it.each([
    [0, 1],
    [2, 3],
  ])('%i allowed make %i attempts', async (maxRetries, attempts) => {
    const script = new Script(...Array.from({ length: attempts }, () => broken(false)));
    const retry = { ...DEFAULT_RETRY, maxRetries };
    const failure = await failureOf(clientOf(script, { retry }).request(READ));
    expect(failure).toMatchObject({ code: 'network.unreachable', exitCode: 8, status: null });
    expect(script.left).toBe(0);
  });

  it('wait as long as the server asks', async () => {
    const clock = new SleepLog();
    const script = new Script(
      answer(429, '', { 'retry-after': '3' }),
      answer(503, '', { 'retry-after': 'Mon, 02 Mar 2026 12:00:10 GMT' }),
      success([]),
    );
    await clientOf(script, { clock }).request(READ);
    expect(clock.sleeps).toEqual([3000, 7000]);
  });

  it('tell what they wait for', async () => {
    const notices: unknown[] = [];
    const script = new Script(answer(429, ''), success([]));
    await clientOf(script, { onRetry: (notice) => notices.push(notice) }).request(READ);
    expect(notices).toEqual([{ attempt: 1, attempts: 6, wait: 500, status: 429, reason: 'HTTP 429' }]);
  });

  it('are told without the values of the query', async () => {
    const notices: unknown[] = [];
    const script = new Script(success([]));
    const query = { filter: 'lastName==Example', lastId: 0 };
    await clientOf(script, { onAttempt: (notice) => notices.push(notice) }).request({ ...READ, query });
    expect(notices).toEqual([
      { method: 'GET', target: '/api/v1/patients?filter&lastId', status: 200, milliseconds: 0, requestId: 'req-1' },
    ]);
  });

  it('stop when the signal comes', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const script = new Script(() => {
      stop.abort(reason);
      return answer(503, '');
    });
    await expect(clientOf(script).request({ ...READ, signal: stop.signal })).rejects.toBe(reason);
  });
});

describe('a DELETE', () => {
  const gone = () => problem(404, 'record.not_found', 'id', 'Gone.');

  it.each<[string, Step[]]>([
    ['was lost', [broken(true)]],
    ['was a timeout', [answer(408, '')]],
    ['was a failure of the API', [problem(500, 'server.unexpected', null, 'Unexpected.')]],
    ['was a gateway error', [answer(502, '<html>')]],
    ['was a server that is not ready', [answer(503, '', { 'retry-after': '1' })]],
    ['was a gateway that waited too long', [answer(504, '')]],
    ['was a gateway error, with a refusal by rate after it', [answer(504, ''), answer(429, '')]],
  ])('whose first answer %s counts as done when the record is gone', async (_name, steps) => {
    const script = new Script(...steps, gone());
    expect(await clientOf(script).request(DELETE)).toMatchObject({ status: 404, data: null });
  });

  it.each<[string, Step[]]>([
    ['at once', []],
    ['after a connection that never was', [broken(false)]],
    ['after a refusal by rate', [answer(429, '')]],
  ])('of a record that never was fails %s', async (_name, steps) => {
    const script = new Script(...steps, gone());
    expect(await failureOf(clientOf(script).request(DELETE))).toMatchObject({ status: 404, exitCode: 4 });
  });

  it.each([
    ['read', READ],
    ['update', PUT],
  ])('is all that a 404 after a 500 concerns: a %s fails', async (_name, request) => {
    const script = new Script(answer(500, ''), gone());
    expect(await failureOf(clientOf(script).request(request))).toMatchObject({ status: 404, exitCode: 4 });
  });
});

describe('failures', () => {
  it('have the problems of the envelope', async () => {
    const script = new Script(problem(400, 'field.missing', 'firstName', 'firstName is required.'));
    const failure = await failureOf(clientOf(script).request(CREATE));
    expect(failure).toBeInstanceOf(ApiFailure);
    expect(failure).toMatchObject({
      message: 'The server refused the request (HTTP 400): firstName is required.',
      code: 'field.missing',
      status: 400,
      exitCode: 5,
      requestId: 'req-1',
      items: [{ code: 'field.missing', title: 'Title', source: 'firstName', description: 'firstName is required.' }],
      hint: 'Send the value named in source.',
    });
  });

  it.each([
    [400, 5],
    [401, 3],
    [403, 3],
    [404, 4],
    [405, 5],
    [413, 5],
    [415, 5],
    [408, 7],
    [429, 7],
    [500, 8],
    [504, 8],
  ])('with status %i exit with %i', async (status, exitCode) => {
    const script = new Script(answer(status, '<html>'));
    const client = clientOf(script, { retry: { ...DEFAULT_RETRY, maxRetries: 0 } });
    expect(await failureOf(client.request(READ))).toMatchObject({ status, exitCode, code: `http.${status}` });
  });

  it.each([
    ['a page', () => answer(200, '\n<!DOCTYPE html><title>Hotel Wi-Fi</title>')],
    ['text that says it is one', () => answer(200, 'Welcome!', { 'content-type': 'text/html; charset=utf-8' })],
  ])('call %s a web page, and say what to do', async (_, page) => {
    const script = new Script(...Array.from({ length: 6 }, page));
    expect(await failureOf(clientOf(script).request(READ))).toMatchObject({
      ...{ code: 'response.malformed', exitCode: 8 },
      message: 'The response is not an API envelope but a web page. (HTTP 200)',
      hint: expect.stringMatching(/sign in.*address/),
    });
  });

  it('name the address of a redirect and do not follow it', async () => {
    const script = new Script(answer(302, '', { location: 'https://elsewhere.example.com/x?token=1' }));
    const failure = await failureOf(clientOf(script).request(READ));
    expect(failure).toMatchObject({ code: 'response.redirect', exitCode: 8, hint: expect.stringContaining('sign in') });
    expect(failure.message).toBe('The server redirects to https://elsewhere.example.com/x (HTTP 302).');
    expect(script.requests).toHaveLength(1);
  });
});
