import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { big, PATIENTS } from '../../support/ids.ts';
import { check, copied, filesIn, inDatabase, linesOf, makePractice, scratch } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
let base: string;
beforeAll(async () => {
  place = await scratch();
  base = join(place.path, 'base');
  await makePractice(base);
});
afterAll(() => place.remove());

let copies = 0;
async function damaged(statement: string): Promise<string> {
  const data = await copied(base, join(place.path, `copy-${++copies}`));
  inDatabase(data, (connection) => connection.exec(statement));
  return data;
}

const ledgers = (data: string) =>
  inDatabase(data, (connection) =>
    ['ledger', 'ledger_blocks', 'distributions', 'ledger_changes', 'record_counts'].map((table) =>
      connection.prepare(`SELECT * FROM ${table}`).all(),
    ),
  );

it.each([
  [
    'sequences, counts and ledger rows',
    `UPDATE sequences SET last_id = 5 WHERE type = 'PatientV1';
     UPDATE record_counts SET records = records - 1 WHERE table_name IN ('patients', 'documents');
     DELETE FROM ledger WHERE id > ${big(401)}`,
    [
      { what: 'sequences raised', count: 2 },
      { what: 'counts made again', count: 4 },
      { what: 'ledgers made again', count: 2 },
    ],
  ],
  ['distributions', `UPDATE distributions SET cents = cents + 1`, [{ what: 'ledgers made again', count: 1 }]],
  [
    'blocks of the ledger',
    'UPDATE ledger_blocks SET transactions = transactions + 1 WHERE width = 1024 AND org = 1',
    [{ what: 'ledgers made again', count: 1 }],
  ],
  [
    'changes not worked in',
    `INSERT INTO ledger_changes SELECT org, id FROM transactions`,
    [{ what: 'ledgers made again', count: 1 }],
  ],
  [
    'ledger rows beside changes not worked in',
    `DELETE FROM ledger WHERE id > ${big(401)}; INSERT INTO ledger_changes SELECT org, id FROM transactions`,
    [{ what: 'ledgers made again', count: 3 }],
  ],
  [
    'rows of no transaction',
    `INSERT INTO ledger VALUES (1, 1, 1, 9, '2026-01-01', 1, 5, 0, 0)`,
    [{ what: 'ledgers made again', count: 1 }],
  ],
])('mends %s, and says so', async (_name, statement, repaired) => {
  const data = await damaged(statement);
  const report = await check({ data }, { repair: true });
  expect({ lines: linesOf(report), repaired: report.repaired }).toEqual({ lines: [], repaired });
  expect(ledgers(data)).toEqual(ledgers(base));
  expect(linesOf(await check({ data }))).toEqual([]);
});

it('makes the ledger again of a charge that counts no more, on which something was paid', async () => {
  const data = await damaged(
    `UPDATE transactions SET is_active = 0, json = json_set(json, '$.isActive', json('false')) WHERE id = ${big(401)} AND org = 1`,
  );
  const found = linesOf(await check({ data })).map((line) => line.replace(/:.*/, ''));
  expect(found).toEqual([402, 403, 401].map((id) => `ledger ledger ${big(id)}`));
  expect(linesOf(await check({ data }, { repair: true }))).toEqual([]);
});

it('finishes removals and removes files without a document, and no other file', async () => {
  const before = await filesIn(join(base, 'files'));
  const data = await damaged("INSERT INTO file_removals (name) VALUES ('0123-original')");
  await mkdir(join(data, 'files', 'ab'), { recursive: true });
  for (const name of ['abcd-original', 'abef-original']) await writeFile(join(data, 'files', 'ab', name), 'x');
  const report = await check({ data }, { repair: true });
  expect(linesOf(report)).toEqual([]);
  expect(report.repaired).toEqual([
    { what: 'removals finished', count: 1 },
    { what: 'files without a document removed', count: 2 },
  ]);
  expect(await filesIn(join(data, 'files'))).toEqual(before.map((name) => name.replace(base, data)));
});

it('leaves alone what it cannot mend, and says that it is left', async () => {
  const data = await damaged(
    `UPDATE patients SET gender = 'X' WHERE id = ${PATIENTS.ann} AND org = 1; UPDATE sequences SET last_id = 5 WHERE type = 'EventV1'`,
  );
  const report = await check({ data }, { repair: true });
  expect(report.repaired).toEqual([{ what: 'sequences raised', count: 2 }]);
  expect(linesOf(report)).toEqual([`records patients ${PATIENTS.ann}: column gender does not agree with its JSON`]);
});

it('changes nothing of data without problems', async () => {
  const data = await copied(base, join(place.path, 'sound'));
  inDatabase(data, (connection) => connection.pragma('wal_checkpoint(TRUNCATE)'));
  const before = await readFile(join(data, 'molar.sqlite'));
  expect(await check({ data }, { repair: true })).toMatchObject({ ok: true, repaired: [] });
  // Compared as a flag: byte by byte, an expectation would take seconds.
  expect(before.equals(await readFile(join(data, 'molar.sqlite')))).toBe(true);
});

it('changes nothing of a schema that is another', async () => {
  const data = await damaged('DELETE FROM schema_migrations WHERE version > 1');
  expect(await check({ data }, { repair: true })).toMatchObject({ ok: false, repaired: [] });
  const versions = inDatabase(data, (connection) => connection.prepare('SELECT version FROM schema_migrations').all());
  expect(versions).toEqual([{ version: 1 }]);
});
