import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { localFailure } from '../../../src/core/failure.ts';
import type { NetworkOptions } from '../../../src/core/transport/network.ts';
import { backUp } from '../../../src/server/maintenance/backup/backup.ts';
import { restore } from '../../../src/server/maintenance/restore.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { WORK } from '../../server/maintenance/practices.ts';
import { TestClock } from '../../support/clock.ts';
import { big, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { practiceFolder } from '../../support/preparedfolders.ts';
import { type TestService, testService } from '../../support/service.ts';
import { until } from './cutting.ts';
import { mirrorFolder, PAYMENT, syncTo } from './mirroring.ts';
import { disturbed, openNetwork } from './network.ts';
import { queried, wrongTables } from './oracle.ts';
import { listening, serverRecords } from './practice.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const ONE = big(70_001);
const OTHER = big(70_002);

let folder: string;
let file: string;
let data: string;
let service: TestService;
let clock: TestClock;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
  data = join(folder, 'data');
  await rename(await practiceFolder(), data);
  clock = new TestClock();
  // What is there is older than a sync asks for changes again, by the clock that its responses tell.
  await start();
  service.clock.advance(HOUR);
});

afterEach(() => service.close());

async function start(port = 0): Promise<void> {
  service = await testService([], { data, clock, streamRetentionDays: 2 });
  env = await listening(service, port);
}

async function sync(words: readonly string[] = [], world: World = {}) {
  const { exitCode, stderr, json } = await syncTo(file, words, {
    env,
    clock: { now: clock.now, sleep: async () => {} },
    ...world,
  });
  expect(exitCode, stderr).toBe(0);
  return json as { position: string; resources: { resource: string; deleted: number }[] };
}

/** What is wrong in the copy, of all resources or of these. */
async function wrong(lists?: readonly string[]): Promise<Record<string, string[]>> {
  return wrongTables(file, await serverRecords(service, lists), lists);
}

/** Two that the stream tells everything of, and one of which it does not. */
const TOLD = ['patients', 'transactiontags'];
const LEDGER = ['transactions', 'transactiontags'];

async function made(path: string, body: object): Promise<number> {
  const { body: answer, text, status } = await service.call('POST', path, { body });
  if (status >= 300) throw new Error(text);
  return Number((answer.data as { id: unknown }).id);
}

const tag = (tagText: string) => made('/transactiontags', { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' });
const remove = async (path: string) => expect((await service.call('DELETE', path)).status).toBe(200);
const numberOf = (position: string) => Number(position.split('-').at(-1));
const buried = (table: string) => queried(file, `SELECT id FROM ${table}_deleted ORDER BY id`).map(({ id }) => id);

describe('a server that no longer has what was told', () => {
  it('is compared whole after its messages are gone, and tombstones stay', async () => {
    const [first, second] = [await tag('first'), await tag('second')];
    await sync();
    await remove(`/transactiontags/${first}`);
    await sync();
    await remove(`/transactiontags/${second}`);
    await service.import([line('Transaction', { ...PAYMENT, id: ONE })]);
    service.clock.advance(3 * DAY);
    await tag('third');
    await service.service.stream.tidy();
    const { position } = await sync();
    expect(await wrong()).toEqual({});
    expect(buried('transaction_tags')).toEqual([first, second]);
    expect(queried(file, 'SELECT DISTINCT changes, deletes, position FROM _mirror')).toEqual([
      { changes: 'stream', deletes: 'stream', position },
    ]);
  });

  it('is compared whole the next time, where its messages are gone before a sync ends', async () => {
    let isGone = false;
    const openNetwork = disturbed(async (url) => {
      if (isGone || !url.includes('/imageattachments')) return;
      isGone = true;
      await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName: 'Gone' } });
      service.clock.advance(3 * DAY);
      await tag('later');
      await service.service.stream.tidy();
    });
    await sync([...TOLD, 'imageattachments'], { openNetwork });
    expect(isGone).toBe(true);
    await sync(TOLD);
    expect(await wrong(TOLD)).toEqual({});
  });

  it('is compared whole after a restore: what it has lost is a tombstone, and what was deleted is there again', async () => {
    const kept = await tag('kept');
    const backup = join(folder, 'backup');
    await backUp({ data }, backup, { ...WORK, version: '1.2.3' });
    await sync([...TOLD, '--history']);
    const lost = await tag('lost');
    await service.call('PUT', `/patients/${PATIENTS.cleo}`, { body: { preferredName: 'Lost' } });
    await remove(`/transactiontags/${kept}`);
    const before = await sync(TOLD);
    expect(buried('transaction_tags')).toEqual([kept]);
    await service.close();
    await rm(data, { recursive: true });
    await restore(backup, { data }, WORK);
    await start(Number(new URL(env.MOLAR_URL as string).port));
    // From now on the positions of the copy are of two histories, and the lowest number is of the new one.
    expect(numberOf((await sync(['patients'])).position)).toBeLessThan(numberOf(before.position));
    // Its numbers reach those of before again, and say something else.
    for (let count = 0; count < 5; count++)
      await service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { preferredName: `New ${count}` } });
    const after = await sync(TOLD);
    expect(after.position.split('-')[0]).not.toBe(before.position.split('-')[0]);
    expect(await wrong(TOLD)).toEqual({});
    expect(buried('transaction_tags')).toEqual([lost]);
    const versions = `SELECT _operation AS o, _valid_to IS NULL AS now FROM transaction_tags_history WHERE id = ${kept} ORDER BY rowid`;
    expect(queried(file, versions)).toEqual([
      { o: 'CREATE', now: 0 },
      { o: 'DELETE', now: 0 },
      { o: 'CREATE', now: 1 },
    ]);
  });
});

describe('what the stream does not tell (specification, Events)', () => {
  it('of a payment that was deleted, and of one that a correction cancels, is found', async () => {
    await service.import([
      line('Transaction', { ...PAYMENT, id: ONE }),
      line('Transaction', { ...PAYMENT, id: OTHER, amount: -20 }),
    ]);
    await sync(LEDGER);
    await service.import([line('Transaction', { id: ONE, deleted: true })]);
    const { resources } = await sync(LEDGER);
    expect(resources.find(({ resource }) => resource === 'transactions')?.deleted).toBe(1);
    expect(buried('transactions')).toEqual([ONE]);
    // As many as before: a deletion of which nothing is told, and a correction.
    await service.import([
      line('Transaction', { ...PAYMENT, id: big(70_003), amount: -21, previousTransaction: { id: OTHER } }),
    ]);
    await sync(LEDGER);
    expect(queried(file, `SELECT is_active FROM transactions WHERE id = ${OTHER}`)).toEqual([{ is_active: 0 }]);
    // What was told of a payment is older than what its list says of it.
    await service.import([line('Transaction', { ...PAYMENT, id: big(70_004) })]);
    await service.import([
      line('Transaction', { ...PAYMENT, id: big(70_005), previousTransaction: { id: big(70_004) } }),
    ]);
    await sync(LEDGER);
    expect(await wrong(LEDGER)).toEqual({});
  });

  it('of a correction while a first load ends is found before it ends', async () => {
    await service.import([line('Transaction', { ...PAYMENT, id: ONE })]);
    let isCorrected = false;
    await sync([...LEDGER, 'imageattachments'], {
      openNetwork: disturbed(async (url) => {
        if (isCorrected || !url.includes('/imageattachments')) return;
        isCorrected = true;
        await service.import([line('Transaction', { ...PAYMENT, id: OTHER, previousTransaction: { id: ONE } })]);
      }),
    });
    expect(isCorrected).toBe(true);
    expect(await wrong(LEDGER)).toEqual({});
  });

  it('is right for resources that were brought up to date at different times', async () => {
    await sync(['patients']);
    await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName: 'Early' } });
    await service.import([line('Transaction', { ...PAYMENT, id: ONE })]);
    await service.import([line('Transaction', { ...PAYMENT, id: OTHER, previousTransaction: { id: ONE } })]);
    service.clock.advance(20 * 60_000);
    await sync(['transactions', 'transactiontags']);
    await service.call('PUT', `/patients/${PATIENTS.bob}`, { body: { preferredName: 'Late' } });
    // The oldest messages that are replayed are of no concern to what was read later.
    await sync();
    expect(await wrong()).toEqual({});
  });

  it('is right for the resource that is furthest behind, which has missed no message', async () => {
    const name = async (preferredName: string) =>
      expect((await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName } })).status).toBe(200);
    const first = numberOf((await sync([...TOLD, '--history'])).position);
    // As texts, 99 comes after 100.
    const nines = 10 ** String(first).length - 1;
    expect(nines - first, 'changes that lead there').toBeLessThan(100);
    for (let number = first; number < nines; number++) await name(`Name ${number}`);
    expect(numberOf((await sync(['patients'])).position)).toBe(nines);
    await name('First');
    expect(numberOf((await sync(['transactiontags'])).position)).toBe(nines + 1);
    await name('Second');
    await sync(TOLD);
    const versions = `SELECT preferred_name AS name FROM patients_history WHERE id = ${PATIENTS.ann} ORDER BY rowid`;
    expect(queried(file, versions).slice(-2)).toEqual([{ name: 'First' }, { name: 'Second' }]);
  });

  it('of rows that another program removed, where the count tells', async () => {
    await sync(LEDGER);
    const connection = openConnection(file);
    connection.exec('DELETE FROM transactions WHERE id = (SELECT min(id) FROM transactions)');
    connection.close();
    await sync(LEDGER);
    expect(await wrong(LEDGER)).toEqual({});
    const counted = "(SELECT rows FROM _mirror WHERE resource = 'transactions') = (SELECT count(*) FROM transactions)";
    expect(queried(file, `SELECT ${counted} AS equal`)).toEqual([{ equal: 1 }]);
  });
});

describe('a mirror that is followed', () => {
  it('is right after it was cut off for longer than messages are kept', async () => {
    const ended = new AbortController();
    const cut = new AbortController();
    let isDown = false;
    const network = (options: NetworkOptions): ReturnType<typeof openNetwork> => {
      const opened = openNetwork(options);
      const send: typeof opened.send = async (request) => {
        const response = await opened.send(isDown ? { ...request, url: 'http://127.0.0.1:1/' } : request);
        return request.url.includes('/stream') ? { ...response, body: until(cut.signal, response.body) } : response;
      };
      return { ...opened, send };
    };
    const change = (preferredName: string) =>
      service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName } });
    /** What is done when an event comes, in this order; one that is not expected ends the test. */
    const script: [string, () => Promise<unknown>][] = [
      ['synced', () => change('First')],
      [
        'changed',
        async () => {
          isDown = true;
          cut.abort(new Error('The connection was cut off.'));
        },
      ],
      [
        'disconnected',
        async () => {
          await change('Lost');
          service.clock.advance(3 * DAY);
          await change('Second');
          await service.service.stream.tidy();
          isDown = false;
        },
      ],
      ['connected', async () => {}],
      ['resync', async () => {}],
      ['changed', () => change('Third')],
      ['changed', async () => ended.abort(localFailure('run.interrupted', 'Interrupted.'))],
    ];
    const events: string[] = [];
    const names: unknown[] = [];
    // Its own clock goes on, and jumps nowhere when the server's does.
    const ahead = clock.now() - Date.now();
    const now = () => Date.now() + ahead;
    const { stderr } = await runCommand('mirror:sync', MirrorSync, [...TOLD, '--to', file, '--json', '--follow'], {
      ...{ env, openNetwork: network, signal: ended.signal },
      clock: { now, sleep: async (ms) => void (await sleep(Math.min(ms, 20))) },
      write: async (chunk) => {
        const { event } = JSON.parse(String(chunk)) as { event: string };
        const [expected, step] = script[events.length] ?? [];
        events.push(event);
        if (event === 'changed') names.push(queried(file, ANN)[0]?.preferred_name);
        if (event !== expected) ended.abort(localFailure('run.interrupted', 'Not expected.'));
        else await step?.();
      },
    });
    expect(events, stderr).toEqual(script.map(([event]) => event));
    expect(names).toEqual(['First', 'Second', 'Third']);
    expect(await wrong(TOLD)).toEqual({});
  });
});

const ANN = `SELECT preferred_name FROM patients WHERE id = ${PATIENTS.ann}`;
