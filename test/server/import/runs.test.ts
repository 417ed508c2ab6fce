import { expect, it } from 'vitest';
import { importRecords } from '../../../src/server/import/importer.ts';
import { numberRecords } from '../../../src/server/import/lines.ts';
import type { Store, Transaction } from '../../../src/server/store/store.ts';
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../support/ids.ts';
import { line, organizationRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';
import { allMessages } from '../stream/told.ts';

const people = (from: number, count: number, own = ORGANIZATION) =>
  Array.from({ length: count }, (_, n) =>
    line('PatientV1', { id: from + n, firstName: 'P', lastName: `No ${from + n}` }, own),
  );
const missed = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => line('MissedAppointmentV1', { id: from + n, patient: { id: 1 } }));

/** How many records of an import into an empty store the database itself tells of, run by run, and what it runs. */
async function importing(lines: readonly Readonly<Record<string, unknown>>[]) {
  const records = [...organizationRecords(), ...lines];
  const service = await testService([]);
  const { store } = service.service;
  const runs: number[] = [];
  const statements: string[] = [];
  const noting = (tx: Transaction): Transaction => ({
    all: (statement) => tx.all(statement),
    get: (statement) => tx.get(statement),
    run(statement) {
      statements.push(statement.sql);
      return tx.run(statement);
    },
    queue: (statement) => tx.queue(statement),
    nextId: (org, type) => tx.nextId(org, type),
    count: (change) => tx.count(change),
    append: (row) => tx.append(row),
    appendSelected(org, select, rows) {
      runs.push(rows);
      return tx.appendSelected(org, select, rows);
    },
    beginBulkLoad: (tables) => tx.beginBulkLoad(tables),
  });
  const write: Store['write'] = (work, org) => store.write((tx) => work(noting(tx)), org);
  await importRecords({ ...service.service, store: { ...store, write } }, () => numberRecords(records));
  const messages = (await allMessages(service)).length;
  await service.close();
  return { runs, messages, statements };
}

it('two hundred new records of a kind and an organization that follow each other are told of at once', async () => {
  const found = await importing([
    ...[...people(1, 260), ...missed(1, 200), ...people(300, 199), ...missed(300, 3)],
    ...[...people(500, 205), ...people(1000, 202, OTHER_ORGANIZATION)],
  ]);
  expect([found.runs, found.messages]).toEqual([[260, 200, 205, 202], 260 + 200 + 199 + 3 + 205 + 202]);
  // Nothing was named twice, so that nothing had to be looked for.
  expect(found.statements.filter((text) => text.includes('import_changes_by_id'))).toEqual([]);
});

it('a line about an earlier record ends a run, and so does a deletion in it', async () => {
  const again = people(7, 1);
  const gone = line('MissedAppointmentV1', { id: 5, deleted: true });
  const found = await importing([
    ...[...people(1, 210), ...again, ...people(300, 150), ...again, ...people(600, 150)],
    ...[...missed(1, 220), gone, ...people(900, 201)],
  ]);
  expect([found.runs, found.messages]).toEqual([[210, 201], 210 + 300 + 219 + 201]);
});

it('records whose location no column has are told of one by one', async () => {
  const history = (_: unknown, n: number) => line('AppointmentHistoryV1', { id: n + 1, patient: { id: 1 } });
  const found = await importing([...people(1, 1), ...Array.from({ length: 200 }, history)]);
  expect([found.runs, found.messages]).toEqual([[], 201]);
});
