import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import { type NetworkOptions, openNetwork } from '../../../src/core/transport/network.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { type Faithful, startFaithful } from '../../faithful/service.ts';
import { queried } from './oracle.ts';

let service: Faithful;
let folder: string;
let file: string;
/** Paths that the service does not have. */
let without: RegExp | undefined;
let now: number;

beforeEach(async () => {
  // It has no list of appointments.
  service = await startFaithful({ seed: 'unavailable', moods: {} });
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
  without = undefined;
  now = Date.now();
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

function network(options: NetworkOptions): ReturnType<typeof openNetwork> {
  const opened = openNetwork(options);
  const send: typeof opened.send = (request) => {
    const isThere = without === undefined || !without.test(request.url);
    return opened.send(isThere ? request : { ...request, url: request.url.replace(without as RegExp, '/nothing') });
  };
  return { ...opened, send };
}

/** The exit code of a sync, whether its summary calls it complete, and the requests that the service had. */
async function sync(...words: string[]) {
  const before = service.requests.length;
  const ran = await runCommand('mirror:sync', MirrorSync, ['--to', file, '--json', ...words], {
    ...{ env: service.env, openNetwork: network },
    clock: { now: () => now, sleep: async () => {} },
  });
  const summary = ran.stdout === '' ? {} : JSON.parse(ran.stdout);
  return { exitCode: ran.exitCode, complete: summary.complete, requests: service.requests.length - before };
}

describe('what the service does not give', () => {
  it('is no failure where it was never there and nobody asks for it', async () => {
    expect(await sync()).toMatchObject({ exitCode: 0, complete: true });
  });

  it('is one where it is named', async () => {
    expect(await sync('patients', 'appointments')).toMatchObject({ exitCode: 6, complete: false });
  });

  it('is one where there is nothing else', async () => {
    without = /\/api\/v1\/\w+/;
    expect(await sync('ALL')).toMatchObject({ exitCode: 6, complete: false });
  });

  it('is one where its rows are old now, until it is there again', async () => {
    await sync();
    without = /\/api\/v1\/patients\b/;
    expect(await sync()).toMatchObject({ exitCode: 6, complete: false });
    const why = () => queried(file, "SELECT unavailable FROM _mirror WHERE resource = 'patients'")[0]?.unavailable;
    expect(why()).toContain('404');
    without = undefined;
    expect(await sync()).toMatchObject({ exitCode: 0, complete: true });
    expect(why()).toBeNull();
  });
});

it('a copy of which nothing could be compared is not called exact', async () => {
  await sync('patients', 'transactions');
  without = /\/api\/v1\/\w+/;
  const ran = await runCommand('mirror:verify', MirrorVerify, ['--to', file, '--json'], {
    ...{ env: service.env, openNetwork: network },
    clock: { now: () => now, sleep: async () => {} },
  });
  expect(ran.exitCode, ran.stderr).toBe(6);
  expect(JSON.parse(ran.stdout)).toMatchObject({ complete: false });
  expect(ran.stderr).not.toContain('exact copy');
});

describe('a mirror that is fresh', () => {
  it('is not asked for while what the service gives is young', async () => {
    await sync();
    now += 60_000;
    expect(await sync('--fresh', '2m')).toEqual({ exitCode: 0, complete: true, requests: 0 });
    now += 60_001;
    expect((await sync('--fresh', '2m')).requests).toBeGreaterThan(0);
  });

  it('lacks nothing that is named, and nothing that was there before', async () => {
    await sync();
    const named = await sync('patients', 'appointments', '--fresh', '1h');
    expect(named).toMatchObject({ exitCode: 6, complete: false });
    expect(named.requests).toBeGreaterThan(0);
    without = /\/api\/v1\/patients\b/;
    await sync();
    const old = await sync('--fresh', '1h');
    expect(old).toMatchObject({ exitCode: 6, complete: false });
    expect(old.requests).toBeGreaterThan(0);
  });

  it('is not one of which there is nothing', async () => {
    without = /\/api\/v1\/\w+/;
    await sync('ALL');
    const again = await sync('ALL', '--fresh', '1h');
    expect(again).toMatchObject({ exitCode: 6, complete: false });
    expect(again.requests).toBeGreaterThan(0);
  });

  it('tells a health check that all is well', async () => {
    await sync('patients');
    const heard: (string | undefined)[] = [];
    const health = createServer((request, response) => {
      heard.push(request.url);
      response.end('OK');
    });
    await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
    const { port } = health.address() as { port: number };
    try {
      const fresh = await sync('patients', '--fresh', '1h', '--ping', `http://127.0.0.1:${port}/check`);
      expect(fresh).toEqual({ exitCode: 0, complete: true, requests: 0 });
      expect(heard).toEqual(['/check/start', '/check']);
    } finally {
      health.close();
    }
  });
});
