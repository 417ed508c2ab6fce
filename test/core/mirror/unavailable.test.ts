import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';
import type { Faithful } from '../../faithful/service.ts';
import { answer, success } from '../transport/script.ts';
import { mirrorFolder, openFaithful, runOnline, syncTo } from './mirroring.ts';
import { answered } from './network.ts';
import { queried } from './oracle.ts';

let service: Faithful;
let file: string;
/** Paths that the service does not have. */
let without: RegExp | undefined;
/** What it answers in place of what it would. */
let instead: ((url: string) => IncomingResponse | undefined) | undefined;
let now: number;

/** Of no test it matters how many records there are. */
const FEW = {
  appointments: 5,
  documents: 5,
  events: 5,
  histories: 5,
  images: 5,
  missed: 5,
  patients: 10,
  plans: 5,
  tags: 5,
};

beforeEach(async () => {
  ({ file } = await mirrorFolder());
  // It has no list of appointments.
  service = await openFaithful({ seed: 'unavailable', practice: FEW });
  without = undefined;
  instead = undefined;
  now = Date.now();
});

const openNetwork = answered((url) => instead?.(url) ?? (without && url.replace(without, '/nothing')));
const world = () => ({ env: service.env, openNetwork, clock: { now: () => now, sleep: async () => {} } });

/** The exit code of a sync, whether its summary calls it complete, and the requests that the service had. */
async function sync(...words: string[]) {
  const before = service.requests.length;
  const { exitCode, json } = await syncTo(file, words, world());
  return { exitCode, complete: json?.complete, requests: service.requests.length - before };
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

/** What a comparison leaves: the exit code, the code of its failure, whether its report is complete, and what it compared. */
async function verify(...words: string[]) {
  const ran = await runOnline('mirror:verify', MirrorVerify, ['--to', file, '--json', ...words], world());
  expect(ran.stderr.includes('is an exact copy')).toBe(ran.exitCode === 0);
  const { complete, resources } = JSON.parse(ran.stdout) as { complete: boolean; resources: Compared[] };
  const compared = resources.filter((each) => each.complete).map(({ resource }) => resource);
  const { result } = JSON.parse(await readFile(`${file}.verify.json`, 'utf8'));
  const code = ran.exitCode === 0 ? undefined : JSON.parse(ran.stderr).error.code;
  return { exitCode: ran.exitCode, code, complete, compared, result };
}

interface Compared {
  readonly resource: string;
  readonly complete: boolean;
}

describe('a comparison', () => {
  it('of which nothing could be compared is not called exact', async () => {
    await sync('patients', 'transactions');
    without = /\/api\/v1\/\w+/;
    const nothing = { exitCode: 6, code: 'run.partial', complete: false, compared: [], result: 'incomplete' };
    expect(await verify()).toEqual(nothing);
    expect(await verify('patients')).toEqual(nothing);
  });

  it('leaves out what the service does not give, unless it is named', async () => {
    await sync('patients', 'documents');
    without = /\/api\/v1\/documents\b/;
    const all = await verify();
    expect(all).toMatchObject({ exitCode: 0, complete: true, result: 'equal' });
    expect([all.compared.includes('patients'), all.compared.includes('documents')]).toEqual([true, false]);
    expect(await verify('documents', 'patients')).toEqual({
      ...{ exitCode: 6, code: 'run.partial', complete: false, compared: ['patients'], result: 'incomplete' },
    });
  });

  it('loads what the copy does not have yet, and takes nothing of it for a difference', async () => {
    await sync('patients');
    const { exitCode, result, compared } = await verify();
    expect([exitCode, result, compared.includes('transactions')]).toEqual([0, 'equal', true]);
  });

  it('fails as what it was cut off by, where nothing was compared, and in part where something was (6)', async () => {
    await sync('patients', 'documents');
    const failing = (paths: RegExp) => (url: string) => (paths.test(url) ? answer(500, '{}') : undefined);
    instead = failing(/\/api\/v1\/(?:documents|patients)\b/);
    const failed = { exitCode: 8, code: 'http.500', complete: false, compared: [], result: 'incomplete' };
    expect(await verify('patients', 'documents')).toEqual(failed);
    instead = failing(/\/api\/v1\/documents\b/);
    expect(await verify('patients', 'documents')).toEqual({
      ...{ exitCode: 6, code: 'run.partial', complete: false, compared: ['patients'], result: 'incomplete' },
    });
    // A list that may lack records is worse than none.
    instead = (url) => (/\/patients\/totalcount\b/.test(url) ? success({ totalCount: 999 }) : undefined);
    expect(await verify('patients', 'documents', '--repair')).toEqual({
      ...{ exitCode: 8, code: 'pages.incomplete', complete: false, compared: ['documents'], result: 'incomplete' },
    });
  });
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
