import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { Draws } from '../../faithful/random.ts';
import { TestClock } from '../../support/clock.ts';
import { big, LOCATIONS, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { queried, TABLES, wrongRows } from './oracle.ts';
import { changeSomething, connectionTo, disturbed, serverRecords, without } from './practice.ts';
import { troubled } from './troubles.ts';

const PAYMENT = {
  ledgerType: 'PatientProcedurePayment',
  amount: -80,
  transactionDate: '2026-01-05',
  patient: { id: PATIENTS.ann },
  location: { id: LOCATIONS.east },
} as const;

const RUNS = Number(process.env.MOLAR_MIRROR_RUNS ?? 3);
const FIRST = Number(process.env.MOLAR_MIRROR_SEED ?? 1);

let service: TestService;
let folder: string;
let file: string;
let env: Readonly<Record<string, string>>;

async function open(): Promise<void> {
  service = await testService(undefined, { clock: new TestClock(Date.now()) });
  env = connectionTo(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  folder = await mkdtemp(join(tmpdir(), 'molar-mirror-'));
  file = join(folder, 'practice.db');
}

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const clock = { now: Date.now, sleep: async () => {} };

async function sync(words: readonly string[] = [], world: World = {}) {
  const ran = await runCommand('mirror:sync', MirrorSync, ['--to', file, '--json', ...words], {
    env,
    clock,
    openNetwork: disturbed(async () => {}),
    ...world,
  });
  return { ...ran, summary: ran.stdout === '' ? undefined : JSON.parse(ran.stdout) };
}

async function wrong(): Promise<Record<string, string[]>> {
  const records = await serverRecords(service);
  const found = Object.keys(TABLES).map(
    (name) => [name, wrongRows(file, name, records.get(name) ?? []).slice(0, 5)] as const,
  );
  return Object.fromEntries(found.filter(([, problems]) => problems.length > 0));
}

/** Brings the mirror up to date in three rounds, each of them disturbed and then quiet; it has to equal the server after each. */
async function follow(seed: string): Promise<void> {
  await open();
  const draws = new Draws(`mirror of the server ${seed}`);
  // What may interrupt a run is drawn apart, since nothing is asked in an order that is certain.
  const network = new Draws(`network of the server ${seed}`);
  for (let round = 0; round < 3; round++) {
    const killed = new AbortController();
    let left = 12;
    let alive = draws.chance(0.5) ? draws.whole(1, 25) : Number.POSITIVE_INFINITY;
    const hasStream = draws.chance(0.7);
    const busy = await sync(draws.chance(0.3) ? ['--history'] : [], {
      signal: killed.signal,
      openNetwork: troubled(network, {
        before: async () => {
          if (alive-- <= 0) killed.abort(localFailure('run.interrupted', 'Killed.'));
          if (left-- > 0 && draws.chance(0.4)) await changeSomething(service, draws);
        },
        hasStream: () => hasStream,
        ...{ cuts: 0.05, repeats: 0.5 },
      }),
    });
    if (!killed.signal.aborted) expect(busy.exitCode, busy.stderr).toBe(0);
    for (let change = draws.whole(0, 8); change > 0; change--) await changeSomething(service, draws);
    const hasStreamNow = draws.chance(0.7);
    const quiet = await sync([], {
      openNetwork: troubled(network, { hasStream: () => hasStreamNow, repeats: 0.5 }),
    });
    expect(quiet.exitCode, quiet.stderr).toBe(0);
    expect(await wrong()).toEqual({});
  }
}

describe('a mirror of our server', () => {
  it.each(Array.from({ length: RUNS }, (_, index) => String(FIRST + index)))(
    'seed %s: equals it after changes, kills, cuts and repeated messages, with its stream and without',
    follow,
  );

  it.each(['28', '244'])('seed %s, in which records come and go in what a killed load has read', (seed) =>
    follow(seed),
  );

  it('does not bring back by old messages what a load has read later', async () => {
    await open();
    await sync(['patients']);
    const payment = { ...PAYMENT, id: big(70_001) };
    await service.import([line('Transaction', payment)]);
    // The stream tells of the payment and of its correction, and not that the payment is cancelled.
    await service.import([
      line('Transaction', { ...PAYMENT, id: big(70_002), previousTransaction: { id: payment.id } }),
    ]);
    const { exitCode, stderr } = await sync();
    expect(exitCode, stderr).toBe(0);
    expect(await wrong()).toEqual({});
  });

  it('applies what the stream tells, and finds what it does not, where nothing can be counted', async () => {
    await open();
    await sync();
    await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredName: 'Annie' } });
    const connection = openConnection(file);
    connection.exec(`CREATE TEMP TABLE gone AS SELECT * FROM patients LIMIT 1; UPDATE gone SET id = 1;
      INSERT INTO patients SELECT * FROM gone`);
    connection.close();
    const { summary } = await sync([], { openNetwork: without('/totalcount') });
    expect(summary.resources.filter(({ complete }: { complete: boolean }) => !complete)).toEqual([]);
    expect(await wrong()).toEqual({});
  });

  it('has the reasons of locations that may be read, where one may not', async () => {
    await open();
    const { summary } = await sync([], {
      openNetwork: without(`scheduletemplatereasons?filter=location.id%3D%3D${LOCATIONS.west}`),
    });
    const { unavailable, rows } = summary.resources.at(-1);
    expect(unavailable).toBeNull();
    expect(rows).toBeGreaterThan(0);
  });

  it('has the reasons of a location that a record names since', async () => {
    await open();
    const location = { id: big(8) };
    const reason = { id: big(80_001), reason: 'Surgery', durationMinutes: 60, location };
    await service.import([line('Location', { ...location, name: 'New' }), line('ScheduleTemplateReasonV1', reason)]);
    await sync();
    const there = () => queried(file, `SELECT reason FROM schedule_template_reasons WHERE id = ${reason.id}`);
    expect(there()).toEqual([]);
    await service.call('PUT', `/patients/${PATIENTS.ann}`, { body: { preferredLocation: location } });
    expect((await sync()).exitCode).toBe(0);
    expect(there()).toEqual([{ reason: 'Surgery' }]);
  });

  it('asks at most twelve times when nothing has changed', async () => {
    await open();
    await sync();
    const { summary } = await sync();
    expect(summary.requests).toBeLessThanOrEqual(12);
    expect(summary.complete).toBe(true);
    expect(summary.position).toMatch(/-\d+$/);
  });
});
