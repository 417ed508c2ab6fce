import { beforeEach, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import MirrorVerify from '../../../src/commands/mirror/verify.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { jsonFailure } from '../../cli/runcommand.ts';
import type { Faithful } from '../../faithful/service.ts';
import { answer } from '../transport/script.ts';
import { mirrorFolder, openFaithful, runOnline } from './mirroring.ts';
import { answered } from './network.ts';
import { queried } from './oracle.ts';

let service: Faithful;
let file: string;
/** Called with the address of each request; what it gives is the status of the answer. */
let refusing: (url: string) => number | undefined;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
  service = await openFaithful({ seed: 'verify' });
  refusing = () => undefined;
});

const openNetwork = answered((url) => {
  const status = refusing(url);
  const text = status === 200 ? '{"data":null}' : '';
  return status === undefined ? undefined : answer(status, text, { 'content-type': 'application/json' });
});

const run = (id: string, command: unknown, words: readonly string[], signal?: AbortSignal) =>
  runOnline(id, command, ['--to', file, '--json', ...words], {
    ...{ env: service.env, openNetwork, ...(signal && { signal }) },
  });
const sync = async (...words: string[]) => expect((await run('mirror:sync', MirrorSync, words)).exitCode).toBe(0);
const verify = (words: readonly string[] = [], signal?: AbortSignal) =>
  run('mirror:verify', MirrorVerify, words, signal);

/** What a report says of each resource: whether it was compared. */
const said = (json: { resources: { resource: string; complete: boolean }[] }) =>
  json.resources.map(({ resource, complete }) => [resource, complete]);

const BOTH = ['patients', 'transactiontags'];
const lists = (name: string) => (url: string) => url.includes(`/api/v1/${name}?`);

describe('a comparison of which the service gives only a part', () => {
  it.each([
    ['failed', 503, 'The server failed (HTTP 503).'],
    ['is not given', 403, 'Not allowed (HTTP 403).'],
  ])('tells what %s, and compares the rest', async (_, status, why) => {
    await sync(...BOTH);
    refusing = (url) => (lists('transactiontags')(url) ? status : undefined);
    const { exitCode, json, stderr } = await verify(BOTH);
    expect(exitCode).toBe(6);
    expect(said(json)).toEqual([
      ['patients', true],
      ['transactiontags', false],
    ]);
    expect(stderr).toContain(`Not compared: transactiontags. ${why}`);
  });

  it('takes a response without a record for one that is malformed', async () => {
    await sync('documents');
    refusing = (url) => (/\/documents\/\d+(?:\?|$)/.test(url) ? 200 : undefined);
    const { stderr } = await verify(['documents', '--sample', '5']);
    expect(JSON.parse(stderr).error).toMatchObject({ exitCode: 8, code: 'response.malformed' });
  });

  it('tells what could not be loaded before', async () => {
    await sync('transactiontags');
    refusing = (url) => (lists('patients')(url) ? 503 : undefined);
    const { exitCode, json } = await verify(BOTH);
    expect(exitCode).toBe(6);
    expect(said(json)).toEqual([
      ['patients', false],
      ['transactiontags', true],
    ]);
  });

  it.each([[[]], [['--sample', '2']]])('says what could not be proved: %j', async (words) => {
    await sync('patients');
    // Also those before 1980 alone.
    refusing = (url) => (lists('patients')(url) && url.includes('0001-01-01') ? 408 : undefined);
    const { exitCode, stderr } = await verify(['patients', ...words]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('The server timed out on records with lastModified before 1980-01-01.');
  });
});

describe('a comparison ends', () => {
  it('where the credentials are refused', async () => {
    await sync(...BOTH);
    refusing = (url) => (lists('patients')(url) ? 401 : undefined);
    expect(jsonFailure(await verify(BOTH))).toMatchObject({ exitCode: 3, status: 401 });
  });

  it('where the file of the mirror cannot be used', async () => {
    await sync(...BOTH);
    refusing = (url) => {
      if (lists('patients')(url)) {
        const connection = openConnection(file);
        connection.exec('DROP TABLE IF EXISTS patients');
        connection.close();
      }
      return undefined;
    };
    const { exitCode, stderr, json } = await verify(BOTH);
    expect([exitCode, json]).toEqual([9, undefined]);
    expect(stderr).toContain('no such table: patients');
  });

  it('where it is interrupted', async () => {
    await sync(...BOTH);
    const stop = new AbortController();
    refusing = (url) => {
      if (lists('patients')(url)) stop.abort(localFailure('run.interrupted', 'Interrupted.'));
      return undefined;
    };
    expect((await verify(BOTH, stop.signal)).exitCode).toBe(130);
  });

  it('where molar itself makes a mistake', async () => {
    await sync(...BOTH);
    refusing = (url) => {
      if (lists('patients')(url)) throw new TypeError('a mistake');
      return undefined;
    };
    const { exitCode, json } = await verify(BOTH);
    expect([exitCode, json]).toEqual([1, undefined]);
  });
});

describe('a sync', () => {
  it('says what could not be proved of a first load', async () => {
    refusing = (url) => (lists('patients')(url) && url.includes('0001-01-01') ? 408 : undefined);
    const { exitCode, stderr } = await run('mirror:sync', MirrorSync, ['patients']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Could not prove that these are all patients: The server timed out');
  });

  it('ends where the credentials are refused while it counts, and reads all ids where nothing is counted', async () => {
    await sync('appointmenthistories');
    const isCount = lists('appointmenthistories/totalcount');
    const before = service.requests.length;
    refusing = (url) => (isCount(url) ? 401 : undefined);
    expect(jsonFailure(await run('mirror:sync', MirrorSync, ['appointmenthistories']))).toMatchObject({ status: 401 });
    const sweeps = () => service.requests.slice(before).filter(({ query }) => query.responseFields === 'id').length;
    expect(sweeps()).toBe(0);
    refusing = (url) => (isCount(url) ? 400 : undefined);
    await sync('appointmenthistories');
    expect(sweeps()).toBeGreaterThan(0);
  });

  it('goes on where one location is gone, and not where the service fails for it', async () => {
    await sync('patients', 'scheduletemplatereasons');
    const reasons = () => queried(file, 'SELECT DISTINCT location_id FROM schedule_template_reasons').length;
    const before = reasons();
    expect(before).toBeGreaterThan(1);
    let asked = 0;
    const status = (code: number) => (url: string) =>
      lists('scheduletemplatereasons')(url) && asked++ === 0 ? code : undefined;
    refusing = status(404);
    await sync('scheduletemplatereasons');
    expect([asked > 1, reasons()]).toEqual([true, before - 1]);
    asked = 0;
    refusing = status(400);
    const failed = await run('mirror:sync', MirrorSync, ['scheduletemplatereasons']);
    expect(jsonFailure(failed)).toMatchObject({ exitCode: 5, status: 400 });
    expect(reasons()).toBe(before - 1);
  });
});
