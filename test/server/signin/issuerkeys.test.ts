import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TOKENS } from '../../support/ids.ts';
import { issuerKey, type TestIssuer } from '../../support/issuer.ts';
import { type SignedIn, signedIn } from './signedin.ts';

const HOUR = 3_600_000;

let open: SignedIn | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await open?.close();
  open = undefined;
});

/** What a good token gets from a server whose issuer is as it is made here. */
async function statusWith(before: (issuer: TestIssuer) => unknown, path = ''): Promise<number> {
  open = await signedIn({ before, path });
  return open.status(open.issuer.token(open.claims()));
}

describe('keys', () => {
  it('are asked for once, however many tokens come', async () => {
    open = await signedIn();
    const { issuer, claims, status } = open;
    const statuses = await Promise.all(Array.from({ length: 50 }, () => status(issuer.token(claims()))));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.asked).toEqual({ '/.well-known/openid-configuration': 1, '/keys': 1 });
  });

  it('that are new are taken within 15 s, and those that are withdrawn no longer', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    const [before] = issuer.keys;
    expect(await status(issuer.token(claims()))).toBe(200);
    issuer.keys = [issuerKey('RS256')];
    clock.advance(15_000);
    expect(await status(issuer.token(claims()))).toBe(200);
    expect(await status(issuer.token(claims(), before))).toBe(401);
  });

  it.each(['the same id', undefined])('that replace others under %s are taken, too', async (kid) => {
    open = await signedIn({ keys: [issuerKey('ES256', { kid })] });
    const { issuer, claims, status, clock } = open;
    expect(await status(issuer.token(claims()))).toBe(200);
    issuer.keys = [issuerKey('ES256', { kid })];
    clock.advance(15_000);
    expect(await status(issuer.token(claims()))).toBe(200);
  });

  it('of invented ids are asked for at most five times in any minute, and new ones within 15 s even then', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    await status(issuer.token(claims()));
    const made = issuerKey('ES256');
    const invented = () => status(issuer.token(claims(), { ...made, jwk: { ...made.jwk, kid: randomUUID() } }));
    const asked: number[] = [];
    for (let second = 0; second < 180; second++) {
      const before = issuer.keysAsked;
      expect(new Set(await Promise.all([invented(), invented()]))).toEqual(new Set([401]));
      if (issuer.keysAsked > before) asked.push(second);
      expect(issuer.keysAsked - before).toBeLessThanOrEqual(1);
      clock.advance(1000);
    }
    const inMinuteOf = (start: number) => asked.filter((at) => at >= start && at < start + 60).length;
    expect(Math.max(...asked.map(inMinuteOf))).toBeLessThanOrEqual(5);
    expect(Math.max(...asked.map((at, index) => at - (asked[index - 1] ?? 0)))).toBeLessThan(15);
    expect(issuer.asked['/.well-known/openid-configuration']).toBe(1);
  });

  it('are asked for every ten minutes, too, and where they are', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    const [before] = issuer.keys;
    expect(await status(issuer.token(claims()))).toBe(200);
    issuer.keys = [issuerKey('ES256')];
    clock.advance(600_000);
    vi.advanceTimersByTime(600_000);
    vi.useRealTimers();
    await expect.poll(() => issuer.asked).toEqual({ '/.well-known/openid-configuration': 2, '/keys': 2 });
    await expect.poll(() => status(issuer.token(claims(), before))).toBe(401);
  });
});

describe('when the clock is set back', () => {
  it('by an hour, new keys are asked for as ever', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    expect(await status(issuer.token(claims()))).toBe(200);
    issuer.keys = [issuerKey('ES256')];
    clock.advance(-HOUR);
    expect(await status(issuer.token(claims()))).toBe(200);
  });

  it('by a day, known keys are good no longer without the issuer', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    expect(await status(issuer.token(claims()))).toBe(200);
    await issuer.close();
    clock.advance(1 - 24 * HOUR);
    expect(await status(issuer.token(claims()))).toBe(200);
    clock.advance(-1);
    expect(await status(issuer.token(claims()))).toBe(503);
  });
});

describe('while the issuer is away', () => {
  it('the server starts, takes its own tokens, and those of the issuer as soon as it is back', async () => {
    open = await signedIn({ before: (issuer) => issuer.close() });
    const { issuer, claims, status, clock, told } = open;
    const token = issuer.token(claims());
    expect([await status(TOKENS.full), await status(token), await status('unknown')]).toEqual([200, 503, 401]);
    expect(told).toEqual([expect.stringMatching(/^away .*ECONNREFUSED/)]);
    await issuer.reopen();
    clock.advance(15_000);
    expect([await status(token), await status(TOKENS.full)]).toEqual([200, 200]);
    expect(told.slice(1)).toEqual(['reached ']);
  });

  it('known keys are good for 24 hours, unknown ones get 503, forgeries 401', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    await status(issuer.token(claims()));
    const forged = () => issuer.token(claims(), { ...issuerKey('ES256'), jwk: issuer.keys[0]?.jwk ?? {} });
    const unknown = () => issuer.token(claims(), issuerKey('ES256'));
    await issuer.close();
    clock.advance(24 * HOUR - 1);
    expect([await status(issuer.token(claims())), await status(unknown()), await status(forged())]).toEqual([
      200, 503, 401,
    ]);
    clock.advance(1);
    expect([await status(issuer.token(claims())), await status(TOKENS.full)]).toEqual([503, 200]);
  });

  it('what has no answer yet keeps nobody else waiting', async () => {
    let release = () => {};
    open = await signedIn();
    const { issuer, claims, status, clock } = open;
    await status(issuer.token(claims()));
    issuer.instead = (_request, response) => {
      release = () => response.writeHead(500).end();
      return true;
    };
    clock.advance(15_000);
    const waiting = status(issuer.token(claims(), issuerKey('ES256')));
    await expect.poll(() => issuer.keysAsked).toBe(2);
    expect([await status(issuer.token(claims())), await status(TOKENS.full), await status('unknown')]).toEqual([
      200, 200, 401,
    ]);
    release();
    expect(await waiting).toBe(503);
  });

  it('one that never answers is given up', async () => {
    open = await signedIn({
      before: (issuer) => {
        issuer.instead = () => true;
      },
    });
    const started = performance.now();
    expect(await open.status(open.issuer.token(open.claims()))).toBe(503);
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('one that has told its name is known again when it tells keys again', async () => {
    open = await signedIn();
    const { issuer, claims, status, clock, told } = open;
    await status(issuer.token(claims()));
    issuer.instead = (_request, response) => {
      response.end('<html>');
      return true;
    };
    clock.advance(15_000);
    expect(await status(issuer.token(claims(), issuerKey('ES256')))).toBe(503);
    issuer.instead = () => false;
    clock.advance(15_000);
    expect(await status(issuer.token(claims(), issuerKey('ES256')))).toBe(401);
    expect(told.map((each) => each.split(' ')[0])).toEqual(['reached', 'away', 'reached']);
  });
});

it('keys that are elsewhere now are found when they are asked for again', async () => {
  open = await signedIn();
  const { issuer, claims, status, clock } = open;
  expect(await status(issuer.token(claims()))).toBe(200);
  issuer.keys = [issuerKey('ES256')];
  issuer.configuration = { jwks_uri: `${issuer.url}/moved` };
  issuer.instead = ({ url }, response) => {
    if (url === '/keys') response.writeHead(404).end();
    else if (url === '/moved') response.end(JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }));
    else return false;
    return true;
  };
  clock.advance(15_000);
  expect(await status(issuer.token(claims()))).toBe(503);
  clock.advance(15_000);
  expect(await status(issuer.token(claims()))).toBe(200);
});

describe('an issuer is believed', () => {
  it.each<[string, string, number]>([
    ['whose name has a path', '/realms/practice', 200],
    ['whose name ends with a slash', '/tenant/', 200],
  ])('%s', async (_name, path, status) => {
    expect(await statusWith(() => {}, path)).toBe(status);
  });

  it.each([
    [0, 200],
    [1, 503],
  ])('whose keys have half a megabyte and %i bytes: %i', async (more, status) => {
    const padded = (issuer: TestIssuer) =>
      JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }).padEnd(512 * 1024 + more);
    expect(await statusWith((issuer) => answer(issuer, '/keys', 200, padded(issuer)))).toBe(status);
  });

  it.each<[string, (issuer: TestIssuer) => unknown]>([
    ['that names itself with a slash more', (issuer) => say(issuer, { issuer: `${issuer.url}/` })],
    ['that names another', (issuer) => say(issuer, { issuer: 'https://evil.example' })],
    ['that names nobody', (issuer) => say(issuer, { issuer: undefined })],
    ['without an address of keys', (issuer) => say(issuer, { jwks_uri: undefined })],
    ['whose keys come over plain HTTP', (issuer) => say(issuer, { jwks_uri: 'http://203.0.113.7/keys' })],
    ['whose keys are in a file', (issuer) => say(issuer, { jwks_uri: 'file:///etc/keys.json' })],
    ['whose keys are in its own text', (issuer) => say(issuer, { jwks_uri: `data:application/json,{"keys":[]}` })],
    ['that leads elsewhere', (issuer) => redirect(issuer, '/.well-known/openid-configuration')],
    ['whose keys lead elsewhere', (issuer) => redirect(issuer, '/keys')],
    ['whose configuration is endless', (issuer) => flood(issuer, '/.well-known/openid-configuration')],
    ['whose keys are endless', (issuer) => flood(issuer, '/keys')],
    ['whose keys are an error', (issuer) => answer(issuer, '/keys', 500, '{"keys":[]}')],
    ['whose keys are no JSON', (issuer) => answer(issuer, '/keys', 200, 'keys')],
    ['whose keys are null', (issuer) => answer(issuer, '/keys', 200, 'null')],
    ['whose keys are numbers', (issuer) => answer(issuer, '/keys', 200, '{"keys":[1]}')],
    ['whose configuration is null', (issuer) => answer(issuer, '/.well-known/openid-configuration', 200, 'null')],
  ])('never one %s', async (_name, before) => {
    expect(await statusWith(before)).toBe(503);
    expect(open?.told).toEqual([expect.stringMatching(/^away ./)]);
  });

  function say(issuer: TestIssuer, configuration: Record<string, unknown>): void {
    issuer.configuration = configuration;
  }

  function answer(issuer: TestIssuer, path: string, status: number, text: string): void {
    issuer.instead = ({ url }, response) => {
      if (url === path) response.writeHead(status).end(text);
      return url === path;
    };
  }

  /** Leads to what would be a good answer. */
  function redirect(issuer: TestIssuer, path: string): void {
    issuer.instead = ({ url }, response) => {
      if (url === path) response.writeHead(302, { location: `/elsewhere${path}` }).end();
      else if (url === '/elsewhere/keys') response.end(JSON.stringify({ keys: issuer.keys.map(({ jwk }) => jwk) }));
      else if (url?.startsWith('/elsewhere')) {
        response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }));
      } else return false;
      return true;
    };
  }

  /** Sends for as long as anybody reads. */
  function flood(issuer: TestIssuer, path: string): void {
    issuer.instead = ({ url }, response) => {
      if (url !== path) return false;
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
      return true;
    };
  }
});
