import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Issuer } from '../../../src/server/signin/issuer.ts';
import { IssuerKeys } from '../../../src/server/signin/issuerkeys.ts';
import { mountSignIn, openSignIn, type SignInOptions } from '../../../src/server/signin/signin.ts';
import { TestClock } from '../../support/clock.ts';
import { TestIssuer } from '../../support/issuer.ts';

let folder: string;
let claims: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-signin-'));
  claims = join(folder, 'claims.json');
  await writeFile(claims, '{"rules": []}');
});
afterAll(() => rm(folder, { recursive: true }));

const noted: unknown[] = [];
const open = (options: SignInOptions) =>
  openSignIn(options, new TestClock().now, { note: (...line: unknown[]) => void noted.push(line) });
const issuer = (url: string, file = claims) => ({ issuer: { url, audience: 'molar', claims: file } });

describe('an issuer', () => {
  it.each(['https://login.example', 'https://login.example/realms/practice', 'http://127.0.0.1:8080', 'http://[::1]/'])(
    'may be %s',
    async (url) => {
      expect(Object.keys(await open(issuer(url)))).toEqual(['issuer']);
    },
  );

  it.each([
    'login.example',
    'http://login.example',
    'file:///etc/issuer',
    'https://login.example?tenant=5',
    'https://login.example#5',
    'https://ann@login.example',
  ])('may not be %s', async (url) => {
    await expect(open(issuer(url))).rejects.toMatchObject({ problems: [{ source: '--oidc-issuer' }] });
  });

  it('that does not answer is a warning in the log, and one that does is not', async () => {
    noted.length = 0;
    const at = await TestIssuer.open();
    const { issuer: opened } = await open(issuer(at.url));
    const app = fastify();
    mountSignIn(app, { issuer: opened as Issuer });
    await app.ready();
    await expect.poll(() => noted).toEqual([['info', 'keys of the issuer are known', { issuer: at.url }]]);
    await Promise.all([app.close(), at.close()]);
    const { issuer: gone } = await open(issuer(at.url));
    await expect(gone?.grantOf('')).rejects.toMatchObject({ status: 503 });
    expect(noted.slice(1)).toEqual([
      ['warn', 'the issuer does not answer as it should', { issuer: at.url, reason: expect.any(String) }],
    ]);
  });

  it('is asked from the start of the server to its end', async () => {
    const told: string[] = [];
    const own = { start: () => void told.push('start'), stop: () => void told.push('stop') };
    const app = fastify();
    mountSignIn(app, { issuer: own as unknown as Issuer });
    await app.ready();
    expect(told).toEqual(['start']);
    await app.close();
    expect(told).toEqual(['start', 'stop']);
  });

  it('is not waited for, nor told of, when the server ends', async () => {
    // By itself it is never given up: no time passes.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const silent = await TestIssuer.open();
    try {
      silent.instead = () => true;
      const told: string[] = [];
      const keys = new IssuerKeys(silent.url, new TestClock().now, (state) => void told.push(state));
      keys.start();
      const asking = keys.renew();
      while (Object.keys(silent.asked).length === 0) await new Promise((resolve) => setImmediate(resolve));
      let renewed: boolean | undefined;
      void asking.then((outcome) => {
        renewed = outcome;
      });
      keys.stop();
      await expect.poll(() => renewed).toBe(false);
      const renew = vi.spyOn(keys, 'renew');
      await vi.advanceTimersByTimeAsync(86_400_000);
      expect([told, renew.mock.calls]).toEqual([[], []]);
    } finally {
      vi.useRealTimers();
      await silent.close();
    }
  });
});

it('rules that cannot be read are told with the flag that names them', async () => {
  const none = join(folder, 'none.json');
  const sourceOf = (options: SignInOptions) => open(options).catch(({ problems }) => problems[0].source);
  expect(await sourceOf(issuer('https://login.example', none))).toBe('--oidc-claims');
  expect(await sourceOf({ certificates: { claims: none } })).toBe('--tls-client-claims');
});
