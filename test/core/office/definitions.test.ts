import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { SqliteMirror } from '../../../src/core/mirror/sqlite/sqlitemirror.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { OFFICE_REPORTS } from '../../../src/core/office/definitions/reports.ts';
import { GUARANTOR_COLUMNS, guarantorsSql } from '../../../src/core/office/guarantors.ts';
import type { OfficeColumn, OfficeReport, Question } from '../../../src/core/office/report.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { openReadOnly } from '../../../src/core/query/sqliteopen.ts';
import { SqliteQuery } from '../../../src/core/query/sqlitequery.ts';
import { Draws } from '../../faithful/random.ts';
import { type Fields, Oracle, type Records, type Row } from './oracle.ts';
import { RandomPractice, TAGS } from './randompractice.ts';

const PRACTICES = 8;
const QUESTIONS = 5;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-office-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const RESOURCES = [
  'patients',
  'appointments',
  'missedappointments',
  'transactions',
  'transactiontags',
  'documents',
] as const;

function tableOf(resource: string): MirrorTable {
  return MIRROR_TABLES.find((table) => table.resource.name === resource) as MirrorTable;
}

/** A mirror of what a made-up practice has; with history, after some of its transactions changed or went. */
async function mirrorOf(file: string, practice: RandomPractice, history: boolean, draws: Draws): Promise<Records> {
  const facts = { organization: 'o', url: 'http://localhost', history, columns: {}, timezone: null };
  let now = Date.parse('2026-01-01T00:00:00Z');
  const options = { zone: 'Asia/Tokyo', isComputers: false, instantOf: () => Number.NaN, now: () => now };
  const store = SqliteMirror.open(file, facts, options);
  const made = Object.fromEntries(RESOURCES.map((name) => [name, practice[name]()])) as Record<string, Fields[]>;
  const texts = (records: readonly Fields[]) => records.map((record) => recordOf(JSON.stringify(record)));
  const publish = async (tables: readonly MirrorTable[]) => {
    const published = { state: {}, found: null, missing: 0, border: 1 };
    const at = new Date(now).toISOString();
    await store.publish({ tables: new Map(tables.map((table) => [table, published])), locations: undefined, at });
    now += 60_000;
  };
  const progress = { since: '', lastId: '0', number: 1 } as never;
  for (const name of RESOURCES) await store.load(tableOf(name), texts(made[name] ?? []), progress);
  await publish(RESOURCES.map(tableOf));
  const transactions = new Map(made.transactions?.map((one) => [String(one.id), one]));
  const first = new Map(history ? transactions : []);
  const vanished: Fields[] = [];
  for (let round = 0; round < (history ? 3 : 0); round++) {
    const changed = draws
      .shuffled([...transactions.values()])
      .slice(0, 60)
      .map((one) => practice.changed(one));
    for (const one of changed) transactions.set(String(one.id), one);
    await store.stage(tableOf('transactions'), texts(changed));
    const gone = draws.shuffled([...transactions.values()]).slice(0, 12);
    for (const one of gone) transactions.delete(String(one.id));
    vanished.push(...gone);
    const table = tableOf('transactions');
    const at = new Date(now).toISOString();
    await store.receive(
      gone.map(({ id }) => ({ table, id: String(id), operation: 'DELETE', message: 1, at, payload: '{}' })),
    );
    await publish([table]);
  }
  store.close();
  return { ...(made as unknown as Records), transactions: [...transactions.values()], vanished, first };
}

/** The rows of a statement as `molar query` reads them, by the names of a report's columns. */
function queried(file: string, sql: string, columns: readonly OfficeColumn[]): Row[] {
  const connection = openReadOnly(file);
  try {
    const query = new SqliteQuery(connection, { sql, parameters: {}, partial: false });
    const own = columns.filter(({ name }) => !/^(location|provider|operatory)\.name$/.test(name));
    const names = own.map(({ name }) =>
      name
        .replace('.', '_')
        .replace(/([a-z])([A-Z])/g, '$1_$2')
        .toLowerCase(),
    );
    expect(query.names).toEqual(names);
    const rows = query.next(Number.MAX_SAFE_INTEGER);
    return rows.map((row) =>
      Object.fromEntries(own.map(({ name, kind }, at) => [name, plainValue(kind, row[at] ?? null)])),
    );
  } finally {
    connection.close();
  }
}

function plainValue(kind: OfficeColumn['kind'], value: unknown): string | number | boolean | null {
  if (value === null) return null;
  if (kind === 'boolean') return [false, true][Number(value)] ?? null;
  return kind === 'id' ? String(value) : (value as string | number);
}

/** Draws what each report may be asked, and says how the oracle answers it. */
function questionsOf(
  draws: Draws,
  practice: RandomPractice,
): Record<string, () => [object, (oracle: Oracle) => Row[]]> {
  const asked = <O>(options: O, answer: (oracle: Oracle, options: O) => Row[]) =>
    [options as object, (oracle: Oracle) => answer(oracle, options)] as [object, (oracle: Oracle) => Row[]];
  const some = <T>(list: readonly T[]) => draws.shuffled(list).slice(0, draws.whole(1, list.length));
  const days = () => {
    const [from, to] = [practice.date(4), practice.date(draws.one([4, 4, 300]))].sort() as [string, string];
    return draws.chance(0.4) ? { from: practice.today, to: practice.today } : { from, to };
  };
  const patientStatuses = () => (draws.chance(0.7) ? ['NEW', 'ACTIVE'] : some(['ACTIVE', 'DUPLICATE', 'NON-PATIENT']));
  const either = () => draws.chance(0.5);
  return {
    schedule: () =>
      asked({ ...days(), by: draws.one(['operatory', 'provider']), allStatuses: either() }, (o, a) => o.schedule(a)),
    'call-list': () =>
      asked({ ...days(), statuses: some(['UNCONFIRMED', 'LEFT_MESSAGE', 'WILL_CALL', 'UNREACHABLE']) }, (o, a) =>
        o.callList(a),
      ),
    recall: () =>
      asked({ months: draws.whole(0, 8), includeNeverSeen: either(), patientStatuses: patientStatuses() }, (o, a) =>
        o.recall(a),
      ),
    'no-shows': () =>
      asked({ ...days(), statuses: some(['NO_SHOW', 'BROKEN']), includeRebooked: either() }, (o, a) => o.noShows(a)),
    'day-sheet': () => asked({ ...days(), byEntry: either() }, (o, a) => o.daySheet(a)),
    deposits: () => asked(days(), (o, a) => o.deposits(a)),
    adjustments: () => asked(days(), (o, a) => o.adjustments(a)),
    birthdays: () => asked({ ...days(), patientStatuses: patientStatuses() }, (o, a) => o.birthdays(a)),
    'missing-contacts': () =>
      asked({ require: some(['phone', 'email']), patientStatuses: patientStatuses() }, (o, a) => o.missingContacts(a)),
    'missing-documents': () =>
      asked(
        {
          tags: some(TAGS).slice(0, 2),
          since: either() ? practice.date(20) : null,
          patientStatuses: patientStatuses(),
        },
        (o, a) => o.missingDocuments(a),
      ),
  };
}

describe.each(Array.from({ length: PRACTICES }, (_, seed) => seed))('made-up practice %i', (seed) => {
  const draws = new Draws(`office ${seed}`);
  const practice = new RandomPractice(draws);
  const hasHistory = seed % 2 === 1;
  let file: string;
  let records: Records;

  beforeAll(async () => {
    file = join(folder, `${seed}.db`);
    records = await mirrorOf(file, practice, hasHistory, draws);
  });

  /** A question as the product and as the oracle understand it. */
  function asking(): { question: Question; oracle: Oracle } {
    const { today, now, zoneOf } = practice;
    const all = ['1', '2', '3', '4', '9007199254740993', '9007199254740992'];
    const locations = draws.chance(0.4) ? draws.shuffled(all).slice(0, draws.whole(1, 3)) : null;
    const zones = practice.zones.map(({ zone, locations: ids }) => ({ clock: new LocalClock(zone), locations: ids }));
    const question = { today, now, locations, zones, otherwise: new LocalClock(practice.otherwise), hasHistory };
    return { question, oracle: new Oracle(records, { today, now, locations, zoneOf }) };
  }

  it.each(OFFICE_REPORTS.map(({ name }) => name))('%s lists what the records say', (name) => {
    const report = OFFICE_REPORTS.find((one) => one.name === name) as OfficeReport<object>;
    const draw = questionsOf(draws, practice)[name] as () => [object, (oracle: Oracle) => Row[]];
    let rows = 0;
    for (let number = 0; number < QUESTIONS; number++) {
      const { question, oracle } = asking();
      const [options, answer] = draw();
      const wanted = answer(oracle);
      const asked = JSON.stringify({ options, locations: question.locations, today: question.today });
      expect(queried(file, report.sql(question, options), report.columns(options)), asked).toStrictEqual(wanted);
      rows += wanted.length;
    }
    expect(rows).toBeGreaterThan(0);
  });

  it('finds phones, last payment and next visit of guarantors', () => {
    const { question, oracle } = asking();
    const ids = [...practice.patientIds, '77'];
    expect(queried(file, guarantorsSql(question, ids), GUARANTOR_COLUMNS)).toStrictEqual(oracle.guarantors(ids));
  });
});
