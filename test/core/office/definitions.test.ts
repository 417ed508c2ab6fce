import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { monthsBefore } from '../../../src/core/office/calendar.ts';
import { recall } from '../../../src/core/office/definitions/recall.ts';
import { GUARANTOR_COLUMNS, guarantorsSql } from '../../../src/core/office/guarantors.ts';
import type { OfficeReport, Question } from '../../../src/core/office/report.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { openReadOnly } from '../../../src/core/query/sqliteopen.ts';
import { type Connection, openConnection } from '../../../src/sqlite/open.ts';
import { Draws } from '../../faithful/random.ts';
import { Mirrored, queried } from './mirrored.ts';
import { OFFICE_REPORTS } from './officereports.ts';
import { Oracle } from './oracle.ts';
import { type Drawn, questionsOf } from './questions.ts';
import { DAYS, RandomPractice, TAGS } from './randompractice.ts';
import { earlier, type Fields, type Records } from './records.ts';

const QUESTIONS = 3;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-office-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A mirror of what a made-up practice has; with history, after some of its transactions changed or went. */
async function mirrorOf(file: string, practice: RandomPractice, history: boolean, draws: Draws): Promise<Records> {
  const mirrored = new Mirrored(file, history);
  const made = practice.records();
  await mirrored.load(made);
  const transactions = new Map(made.transactions.map((one) => [String(one.id), one]));
  const first = new Map(history ? transactions : []);
  const vanished: Fields[] = [];
  for (let round = 0; round < (history ? 3 : 0); round++) {
    const some = (count: number) => draws.shuffled([...transactions.values()]).slice(0, count);
    const changed = some(60).map((one) => practice.changed(one));
    for (const one of changed) transactions.set(String(one.id), one);
    const gone = some(12);
    for (const one of gone) transactions.delete(String(one.id));
    vanished.push(...gone);
    await mirrored.change(
      'transactions',
      changed,
      gone.map(({ id }) => String(id)),
    );
  }
  await mirrored.close();
  return { ...made, transactions: [...transactions.values()], vanished, first };
}

describe.each(DAYS.map((today, seed) => ({ today, seed })))('a made-up practice on $today', ({ today, seed }) => {
  const draws = new Draws(`office ${seed}`);
  const practice = new RandomPractice(draws, today);
  const hasHistory = seed % 2 === 1;
  let connection: Connection;
  let records: Records;

  beforeAll(async () => {
    const file = join(folder, `${seed}.db`);
    records = await mirrorOf(file, practice, hasHistory, draws);
    connection = openReadOnly(file);
  });
  afterAll(() => connection.close());

  /** A question as the product and as the oracle understand it. */
  function asking(draws: Draws): { question: Question; oracle: Oracle } {
    const { today, now, zoneOf } = practice;
    const all = ['1', '2', '3', '4', '9007199254740993', '9007199254740992'];
    const locations = draws.chance(0.4) ? draws.shuffled(all).slice(0, draws.whole(1, 3)) : null;
    const zones = practice.zones.map(({ zone, locations: ids }) => ({ clock: new LocalClock(zone), locations: ids }));
    const question = { today, now, locations, zones, otherwise: new LocalClock(practice.otherwise), hasHistory };
    return { question, oracle: new Oracle(records, { today, now, locations, zoneOf }) };
  }

  it.each(OFFICE_REPORTS.map(({ name }) => name))('%s lists what the records say', (name) => {
    const report = OFFICE_REPORTS.find((one) => one.name === name) as OfficeReport<object>;
    // Of its own, so that what is asked does not depend on the tests before.
    const draws = new Draws(`office ${seed} ${name}`);
    const draw = questionsOf(draws, { today: practice.today, reach: 4, tags: TAGS })[name] as () => Drawn;
    let rows = 0;
    // More of them where none of the first finds anything.
    for (let number = 0; number < (rows > 0 ? QUESTIONS : 10 * QUESTIONS); number++) {
      const { question, oracle } = asking(draws);
      const [options, answer] = draw();
      const wanted = answer(oracle);
      const asked = JSON.stringify({ options, locations: question.locations, today: question.today });
      expect(queried(connection, report.sql(question, options), report.columns(options)), asked).toStrictEqual(wanted);
      rows += wanted.length;
    }
    expect(rows).toBeGreaterThan(0);
  });

  it('finds phones, last payment and next visit of guarantors', () => {
    const { question, oracle } = asking(new Draws(`guarantors ${seed}`));
    const ids = [...practice.patientIds, '77'];
    expect(queried(connection, guarantorsSql(question, ids), GUARANTOR_COLUMNS)).toStrictEqual(oracle.guarantors(ids));
  });
});

it('takes the last day of a month that is too short', () => {
  const dates = Array.from({ length: 800 }, (_, day) => new Date(Date.UTC(2027, 0, day)).toISOString().slice(0, 10));
  const asked = dates.flatMap((date) => [0, 1, 6, 13].map((months) => [date, months] as const));
  expect(asked.map((one) => monthsBefore(...one))).toEqual(asked.map((one) => earlier(...one)));
});

it('reads no long rows for the last visits of all patients, also from a file of an older version', async () => {
  const file = join(folder, 'indexes.db');
  const mirrored = new Mirrored(file, false);
  await mirrored.load(new RandomPractice(new Draws('indexes'), '2026-11-22').records());
  await mirrored.close();
  const older = openConnection(file);
  const names = "SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE '%by_patient_id_and_%'";
  const dropped = older.prepare(names).pluck().all() as string[];
  for (const name of dropped) older.exec(`DROP INDEX ${name}`);
  older.close();
  expect(dropped).toHaveLength(2);
  await new Mirrored(file, false).close();
  const connection = openConnection(file, { readonly: true });
  const clock = new LocalClock('America/Denver');
  const question = { today: '2026-11-22', now: '', locations: null, zones: [], otherwise: clock, hasHistory: false };
  const options = { months: 6, includeNeverSeen: false, patientStatuses: ['ACTIVE'] };
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${recall.sql(question, options)}`).all() as { detail: string }[];
  connection.close();
  const reads = plan.map(({ detail }) => detail).filter((detail) => /^(SEARCH|SCAN) (a|t)\b/.test(detail));
  expect(reads).toHaveLength(3);
  for (const read of reads) expect(read).toMatch(/^SEARCH . USING COVERING INDEX \w+_by_patient_id_and_/);
});
