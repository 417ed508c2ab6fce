import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { text } from '../../acceptance/molar.ts';
import type { CallOptions } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { TOKENS } from '../../support/ids.ts';
import { sharedService, testService } from '../../support/service.ts';

const service = sharedService(undefined, { rateLimit: 1, failedAttempts: 3 });

/** What every answer of the service carries, as the practice of OWASP's REST and secure-headers pages has it. */
const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': expect.stringContaining('no-store'),
  'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
  'x-request-id': expect.stringMatching(/^[\x21-\x7e]{8,}$/),
};
/** What tells of the software, or lets pages of other origins in. */
const NOWHERE = ['x-powered-by', 'server', 'set-cookie', 'access-control-allow-origin', 'x-aspnet-version'];

interface Answer {
  readonly status: number;
  readonly method: string;
  readonly path: string;
  readonly options?: CallOptions;
}

const ANSWERS: readonly Answer[] = [
  { status: 200, method: 'GET', path: '/patients?pageSize=1', options: { token: TOKENS.both } },
  { status: 200, method: 'HEAD', path: '/patients/70000000000101' },
  {
    status: 201,
    method: 'POST',
    path: '/documents',
    options: { body: { name: 'x', mimeType: 'PDF', file: { content: PDF } } },
  },
  { status: 400, method: 'GET', path: '/patients/%zz' },
  { status: 400, method: 'POST', path: '/patients', options: { body: '{' } },
  { status: 400, method: 'GET', path: '/events?filter=nosuch==1' },
  { status: 401, method: 'GET', path: '/patients', options: { token: null } },
  { status: 403, method: 'GET', path: '/patients', options: { token: TOKENS.none } },
  { status: 403, method: 'GET', path: '//files/x/documents/1/original' },
  { status: 404, method: 'GET', path: '/nosuch' },
  { status: 404, method: 'GET', path: '//nosuch' },
  { status: 404, method: 'GET', path: '/patients/5' },
  { status: 405, method: 'PATCH', path: '/patients' },
  { status: 405, method: 'OPTIONS', path: '//docs' },
  { status: 413, method: 'POST', path: '/patients', options: { body: `"${'x'.repeat(1024 * 1024)}"` } },
  {
    status: 415,
    method: 'POST',
    path: '/patients',
    options: { body: '{}', headers: { 'content-type': 'text/plain' } },
  },
  { status: 200, method: 'GET', path: '//healthz' },
  { status: 200, method: 'GET', path: '//readyz' },
  { status: 200, method: 'GET', path: '//metrics' },
  { status: 200, method: 'GET', path: '//openapi.json' },
  { status: 200, method: 'GET', path: '//docs' },
];

describe('every kind of answer', () => {
  it.each(ANSWERS)(
    'of $status, to $method $path, carries the security headers and nothing that tells of the server',
    async ({ status, method, path, options }) => {
      const called = await service.call(method, path, options);
      expect({ status: called.status, ...called.headers }).toMatchObject({ status, ...EVERYWHERE });
      expect(NOWHERE.filter((name) => name in called.headers)).toEqual([]);
      // Of what was read, never of a file or a clock of this machine.
      expect(called.headers.etag ?? 'W/"0"').toMatch(/^W\/"[\w+/=]+"$/);
    },
  );

  it('of 429 does, of requests and of failed authentication', async () => {
    const found: Awaited<ReturnType<typeof service.call>>[] = [];
    for (let turn = 0; turn < 5; turn++) {
      found.push(await service.call('GET', '/transactiontags', { token: TOKENS.read }));
      found.push(await service.call('GET', '/documents', { token: 'bad' }));
    }
    const refused = found.filter(({ status }) => status === 429);
    expect(refused.map(({ headers }) => 'ratelimit-limit' in headers)).toContain(false);
    expect(refused.map(({ headers }) => 'ratelimit-limit' in headers)).toContain(true);
    for (const { headers } of refused) {
      expect(headers).toMatchObject({ ...EVERYWHERE, 'retry-after': expect.stringMatching(/^\d+$/) });
    }
  });

  it('of a file does, which is never shown in place', async () => {
    const made = await service.call('POST', '/documents', {
      body: { name: 'x', mimeType: 'PDF', file: { content: PDF } },
    });
    const { storage } = made.body.data as { storage: { original: string } };
    const called = await service.call('GET', storage.original, { token: null });
    expect({ status: called.status, ...called.headers }).toMatchObject({ ...EVERYWHERE, status: 200 });
    expect(called.headers['content-disposition']).toMatch(/^attachment;/);
  });

  it('of what is no request does', async () => {
    const own = await testService();
    const url = new URL(await own.app.listen({ host: '127.0.0.1', port: 0 }));
    for (const bytes of ['nonsense\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`]) {
      const socket = connect(Number(url.port), url.hostname);
      socket.write(bytes);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      for (const [name, value] of Object.entries(EVERYWHERE)) {
        const sent = new RegExp(`^${name}: (.*)$`, 'm').exec(answer)?.[1]?.trim();
        expect({ [name]: sent }).toEqual({ [name]: value });
      }
    }
    await own.close();
  });
});

describe('a page that a browser shows', () => {
  it('may load and run nothing: no script, no outside source', async () => {
    const { headers, text: page } = await service.call('GET', '//docs');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy.split('; ').map((part) => part.split(' ')[0])).toEqual([
      'default-src',
      'style-src',
      'img-src',
      'base-uri',
      'form-action',
      'frame-ancestors',
    ]);
    expect(policy).not.toMatch(/unsafe|https?:|\*|script-src/);
    expect(page).not.toMatch(/<script|<iframe|<form|<object|<embed|\son\w+=|javascript:|\ssrc=/i);
    const outside = page.match(/\b(?:href|src|action)="(?!#|\/(?!\/)|data:image)[^"]*"/g) ?? [];
    expect(outside).toEqual([]);
  });
});

describe('over TLS', () => {
  it('a browser is told to come back over TLS, by a server behind a proxy too', async () => {
    const behind = await testService(undefined, { behindProxy: true });
    const headers = { 'x-forwarded-proto': 'https' };
    const told = await behind.call('GET', '//healthz', { headers });
    expect(told.headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await service.call('GET', '//healthz', { headers })).headers).not.toHaveProperty(
      'strict-transport-security',
    );
    await behind.close();
  });
});
