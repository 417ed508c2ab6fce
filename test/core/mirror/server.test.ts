import { get, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import type { World } from '../../cli/runcommand.ts';
import { Draws } from '../../faithful/random.ts';
import { START } from '../../support/clock.ts';
import { big, LOCATIONS, PATIENTS } from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import type { TestService } from '../../support/service.ts';
import { clock, mirrorFolder, openServer, syncTo } from './mirroring.ts';
import { disturbed, without } from './network.ts';
import { queried, TABLES, wrongRows, wrongTables } from './oracle.ts';
import { changeSomething, serverRecords } from './practice.ts';
import { troubled } from './troubles.ts';

const PAYMENT = {
  ledgerType: 'PatientProcedurePayment',
  amount: -80,
  transactionDate: '2026-01-05',
  patient: { id: PATIENTS.ann },
  location: { id: LOCATIONS.east },
} as const;

const { MOLAR_MIRROR_RUNS, MOLAR_MIRROR_SEED } = process.env;
/** None but the chosen ones, where no number of them and no first one is asked for. */
const RUNS = Number(MOLAR_MIRROR_RUNS ?? (MOLAR_MIRROR_SEED === undefined ? 0 : 1));
const FIRST = Number(MOLAR_MIRROR_SEED ?? 1);
/** A record that a sweep had missed, and whose deletion was told then: nothing else tests it. */
const ALWAYS = [4018];

let service: TestService;
let file: string;
let env: Readonly<Record<string, string>>;

async function open(): Promise<void> {
  ({ file } = await mirrorFolder());
  ({ service, env } = await openServer());
}

const sync = (words: readonly string[] = [], world: World = {}) => syncTo(file, words, { env, ...world });

async function wrong(): Promise<Record<string, string[]>> {
  return wrongTables(file, await serverRecords(service));
}

/** Records that were in the mirror after a sync, by table, and its tombstones. */
type Known = Map<string, Set<unknown>>;

/** Ids that are in the wrong one of a table and its tombstones; `known` has those of earlier syncs, and gets the others. */
function misplaced(known: Known): string[] {
  const queries = Object.values(TABLES).flatMap((table) =>
    [table, `${table}_deleted`].map((name) => `SELECT '${name}' AS name, id FROM ${name}`),
  );
  const all = queried(file, queries.join(' UNION ALL '));
  return Object.values(TABLES).flatMap((table) => {
    const idsOf = (wanted: string) => new Set(all.filter(({ name }) => name === wanted).map(({ id }) => id));
    const [rows, tombstones] = [idsOf(table), idsOf(`${table}_deleted`)];
    const seen = new Set([...(known.get(table) ?? []), ...rows, ...tombstones]);
    known.set(table, seen);
    return [...seen].filter((id) => rows.has(id) === tombstones.has(id)).map((id) => `${table} ${id}`);
  });
}

interface Column {
  readonly table_name: string;
  readonly column_name: string;
  readonly type: string;
}

/** Ids that are no links: of storage, of a series, of an object that the API has no path for. */
const NO_LINKS = [
  'documents.thumb_nail_id',
  'events.group_id',
  'appointment_histories.user_id',
  'image_attachments.exam_id',
  'image_attachments.exam_image_id',
  'patient_phones.phone_id',
];

/** What the stream tells every change of (specification, Events). */
const TOLD = ['patients', 'documents', 'transactiontags', 'events'];

/** What the server has at each position of its stream. */
class Positions {
  private readonly known: { readonly number: number; readonly records: Awaited<ReturnType<typeof serverRecords>> }[] =
    [];

  async note(): Promise<void> {
    const headers = { authorization: `Bearer ${env.MOLAR_TOKEN}`, 'organization-id': env.MOLAR_ORGANIZATION };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${env.MOLAR_URL}/api/v1/stream`, { headers, agent: false }, resolve).once('error', reject);
    });
    response.destroy();
    const number = Number(String(response.headers['x-stream-position']).split('-').at(-1));
    this.known.push({ number, records: await serverRecords(service, TOLD) });
  }

  /** What in the mirror is not as it was at the position that it names. */
  wrong(position: string | null): string[] {
    if (position === null) return [];
    const at = this.known.findLast(({ number }) => number <= Number(position.split('-').at(-1)));
    return TOLD.flatMap((name) => wrongRows(file, name, at?.records.get(name) ?? []));
  }
}

/**
 * Brings the mirror up to date in three rounds, each of them disturbed and then quiet; it has to equal the server after each,
 * and after a disturbed one what the server had at the position that it names.
 */
async function follow(seed: string): Promise<void> {
  await open();
  const known: Known = new Map();
  const positions = new Positions();
  let changing: Promise<void> = positions.note();
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
          if (left-- > 0 && draws.chance(0.4))
            changing = changing.then(() => changeSomething(service, draws)).then(() => positions.note());
          await changing;
        },
        hasStream: () => hasStream,
        ...{ cuts: 0.05, repeats: 0.5 },
      }),
    });
    if (!killed.signal.aborted) {
      expect(busy.exitCode, busy.stderr).toBe(0);
      expect(positions.wrong(busy.json.position)).toEqual([]);
    }
    for (let change = draws.whole(0, 8); change > 0; change--) await changeSomething(service, draws);
    // Longer than the time for which a sync asks again in any case.
    service.clock.advance(draws.whole(0, 2) * 10 * 60_000);
    const hasStreamNow = draws.chance(0.7);
    const quiet = await sync([], {
      openNetwork: troubled(network, { hasStream: () => hasStreamNow, repeats: 0.5 }),
    });
    expect(quiet.exitCode, quiet.stderr).toBe(0);
    expect(await wrong()).toEqual({});
    expect(misplaced(known)).toEqual([]);
    await positions.note();
    service.clock.advance(draws.whole(0, 2) * 10 * 60_000);
  }
}

describe('a mirror of our server', () => {
  it.each([...Array.from({ length: RUNS }, (_, index) => FIRST + index), ...ALWAYS].map(String))(
    'seed %s: equals it after changes, kills, cuts and repeated messages, with its stream and without',
    follow,
  );

  it.each(['28', '244'])('seed %s, in which records come and go in what a killed load has read', (seed) =>
    follow(seed),
  );

  it('finds links, dates, instants, names and the digits of phones by an index', async () => {
    await open();
    expect((await sync()).exitCode).toBe(0);
    const columns = queried(file, 'SELECT table_name, column_name, type FROM _columns') as unknown as Column[];
    const isWanted = ({ table_name, column_name, type }: Column) =>
      !/^v_|_(deleted|history)$/.test(table_name) &&
      (['date', 'instant'].includes(type) || /(_id|^name|_name|^last_modified)$/.test(column_name)) &&
      !NO_LINKS.includes(`${table_name}.${column_name}`);
    const wanted = columns.filter(isWanted).map(({ table_name, column_name }) => [table_name, `"${column_name}"`]);
    const digits = ['-', '(', ')', ' ', '.', '+'].reduce((on, sign) => `replace(${on}, '${sign}', '')`, 'number');
    const plans = [...wanted, ['patient_phones', digits]].map(([table, on]) => {
      const [plan] = queried(file, `EXPLAIN QUERY PLAN SELECT * FROM ${table} WHERE ${on} = 'x'`);
      return `${table} ${on}: ${plan?.detail}`;
    });
    expect(plans.length).toBeGreaterThan(70);
    expect(plans.filter((plan) => !/^\S+ .*: SEARCH .* (INDEX|PRIMARY KEY) /.test(plan))).toEqual([]);
  });

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
    const { json: summary } = await sync([], { openNetwork: without('/totalcount') });
    expect(summary.resources.filter(({ complete }: { complete: boolean }) => !complete)).toEqual([]);
    expect(await wrong()).toEqual({});
  });

  it('has the reasons of locations that may be read, where one may not', async () => {
    await open();
    const { json: summary } = await sync([], {
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
    let time = START;
    let last = 0;
    const { json: summary } = await sync([], {
      clock: { ...clock, now: () => ++time },
      openNetwork: disturbed(async () => {
        last = time;
      }),
    });
    expect(summary.requests).toBeLessThanOrEqual(12);
    // It is true at the position that was reached, which is behind everything that was asked.
    expect(Date.parse(summary.asOf)).toBeGreaterThan(last);
    expect(summary.complete).toBe(true);
    expect(summary.position).toMatch(/-\d+$/);
  });
});
