import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Parameters } from '../../../src/core/query/parameters.ts';
import { SqliteReader } from '../../../src/core/query/sqlitereader.ts';
import { makeMirror } from '../../support/mirrorfile.ts';

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-query-'));
  file = makeMirror(
    join(folder, 'mirror.db'),
    'CREATE TABLE appointments_history (id INTEGER)',
    'CREATE TABLE event_recurrence_days (event_id INTEGER)',
    'ANALYZE',
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The names and the rows of a statement, or its fault. */
function read(sql: string, { parameters = {}, partial = false }: { parameters?: Parameters; partial?: boolean } = {}) {
  const reader = new SqliteReader();
  const opened = reader.answer({ file, statement: { sql, parameters, partial } });
  if (!('names' in opened)) return opened;
  const next = reader.answer({ rows: 100 });
  return 'rows' in next ? { names: opened.names, rows: next.rows } : next;
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

test.each([
  ['SELECT count(*) AS n FROM patients', [[2]]],
  ['WITH x AS (SELECT 1 AS one) SELECT * FROM x', [[1]]],
  [
    "VALUES (1, 'a'), (2, 'b')",
    [
      [1, 'a'],
      [2, 'b'],
    ],
  ],
  ['SELECT 1 WHERE 0', []],
  ['  -- first\n/* then */ SELECT 1; -- last', [[1]]],
  ['SELECT number FROM patient_phones', [['555-0100']]],
  ['PRAGMA user_version', [[1]]],
  ['pragma main.journal_mode ;', [['wal']]],
  ['PRAGMA integrity_check', [['ok']]],
  ["PRAGMA index_list('appointments')", [[0, 'appointments_by_patient_id', 0, 'c', 0]]],
  ['PRAGMA table_info("it\'s")', []],
  ['PRAGMA temp.table_info(patient_phones)', []],
])('%s is read', (sql, rows) => {
  expect(read(sql)).toMatchObject({ rows });
});

test('PRAGMA and EXPLAIN tell what they tell anywhere', () => {
  expect(read('PRAGMA table_info(patient_phones)')).toMatchObject({
    names: ['cid', 'name', 'type', 'notnull', 'dflt_value', 'pk'],
    rows: [
      [0, 'patient_id', 'INTEGER', 1, null, 1],
      [1, 'ordinal', 'INTEGER', 1, null, 2],
      [2, 'number', 'TEXT', 0, null, 0],
    ],
  });
  expect(read('EXPLAIN QUERY PLAN SELECT * FROM patients')).toMatchObject({
    rows: [[expect.anything(), 0, expect.anything(), 'SCAN patients']],
  });
  expect(read('EXPLAIN DELETE FROM patients')).toMatchObject({ names: expect.arrayContaining(['opcode']) });
});

test.each([
  'INSERT INTO patients (id) VALUES (1)',
  'INSERT INTO patients (id) VALUES (1) RETURNING id',
  'WITH x AS (SELECT 1 AS id) INSERT INTO patients (id) SELECT id FROM x RETURNING id',
  'UPDATE patients SET first_name = NULL',
  'DELETE FROM patients RETURNING *',
  'REPLACE INTO patients (id) VALUES (5)',
  'DROP TABLE patients',
  'CREATE TABLE more (id)',
  'CREATE TEMP TABLE more (id)',
  'ALTER TABLE patients RENAME TO people',
  "ATTACH ':memory:' AS other",
  'DETACH main',
  'BEGIN IMMEDIATE',
  'COMMIT',
  'SAVEPOINT s',
  'VACUUM',
  'REINDEX',
  'ANALYZE',
  'PRAGMA user_version = 5',
  'PRAGMA user_version(5)',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA journal_mode(delete)',
  'PRAGMA writable_schema = 1',
  'PRAGMA query_only = 0',
  'PRAGMA locking_mode = EXCLUSIVE',
  'PRAGMA busy_timeout = 1',
  'PRAGMA table_info = patients',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'PRAGMA mmap_size = 0',
  "PRAGMA temp_store_directory = '/'",
  ';PRAGMA busy_timeout = 1',
  '/* a */ PRAGMA busy_timeout = 1',
])('%s is refused, and the file stays as it is', (sql) => {
  const before = hashOf(file);
  expect(read(sql)).toEqual({ fault: { kind: 'refused', message: 'The statement does not only read' } });
  expect(hashOf(file)).toBe(before);
});

test.each([
  ["VACUUM INTO 'out.db'", 'refused'],
  ["ATTACH 'out.db' AS other", 'refused'],
  ["SELECT load_extension('out.db')", 'sql'],
  ["SELECT writefile('out.db', 'x')", 'sql'],
  ["SELECT 1; ATTACH 'out.db' AS other", 'sql'],
  ['SELECT 1; DELETE FROM patients', 'sql'],
] as const)('%s neither runs nor leaves a file', (sql, kind) => {
  const before = hashOf(file);
  const out = join(folder, 'out.db');
  expect(read(sql.replace('out.db', out))).toMatchObject({ fault: { kind } });
  expect(existsSync(out)).toBe(false);
  expect(hashOf(file)).toBe(before);
});

test('values are exact: whole numbers of 64 bits, floats, blobs in base64, null', () => {
  expect(
    read("SELECT id, 9223372036854775807, -9007199254740991, 0.1, x'00ff', NULL, '' FROM patients WHERE id > 5"),
  ).toMatchObject({
    rows: [[9007199254740993n, 9223372036854775807n, -9007199254740991, 0.1, 'AP8=', null, '']],
  });
});

test.each([
  [
    'SELECT first_nam FROM patients',
    { kind: 'column', name: 'first_nam', at: 7, known: expect.arrayContaining(['first_name']) },
  ],
  ['SELECT p.first_nam FROM patients p', { kind: 'column', name: 'first_nam', at: 9 }],
  ['SELECT "first_nam" FROM patients', { kind: 'column', name: 'first_nam', at: 7 }],
  ["SELECT 'nope' FROM nope", { kind: 'table', name: 'nope', at: 19 }],
  ['SELECT * FROM patient', { kind: 'table', name: 'patient', at: 14, known: expect.arrayContaining(['patients']) }],
  ["SELECT 'FORM' AS x FORM patients", { kind: 'sql', at: 19 }],
  ['SELECT FORM AS x FORM patients', { kind: 'sql', at: 17, message: 'syntax error near "FORM"' }],
  ['SELECT id FROM patients WHERE \n ', { kind: 'sql', at: 29 }],
  ["SELECT 1, 'open", { kind: 'sql', at: 10 }],
  ['SELECT nosuch(id) FROM patients', { kind: 'sql', at: 7 }],
  ['', { kind: 'sql' }],
] as const)('%s: the fault says where, and what may have been meant', (sql, fault) => {
  expect(read(sql)).toMatchObject({ fault });
});

test('what may have been meant is among the columns of the tables that a statement names, else of all', () => {
  const known = (sql: string) => {
    const answer = read(sql);
    return 'fault' in answer ? answer.fault.known : undefined;
  };
  expect(known('SELECT nope FROM Patient_Phones')).toEqual(['patient_id', 'ordinal', 'number']);
  expect(known('SELECT nope')).toEqual(expect.arrayContaining(['resource', 'first_name', 'ordinal', 'next_visit']));
  expect(known('SELECT * FROM nope')).toEqual([
    ...['_mirror', 'appointments', 'appointments_deleted', 'appointments_history', 'event_recurrence_days'],
    ...['events', 'patient_insurance_plans', 'patient_phones', 'patients', 'v_visits'],
  ]);
});

test('a fault in the middle of the rows ends them', () => {
  expect(read('SELECT abs(-9223372036854775807 - id) FROM (SELECT 0 AS id UNION ALL SELECT 1)')).toMatchObject({
    fault: { kind: 'sql', message: 'integer overflow' },
  });
});

test.each([
  ['SELECT * FROM appointments', 'appointments'],
  ['SELECT count(*) FROM appointments', 'appointments'],
  ['SELECT patient_id FROM appointments WHERE patient_id = 5', 'appointments'],
  ['SELECT * FROM v_visits', 'appointments'],
  ['SELECT 1 WHERE EXISTS (SELECT 1 FROM appointments_deleted)', 'appointments_deleted'],
  ['SELECT * FROM Appointments_History', 'appointments_history'],
])('%s: a table whose first load is not finished is not read', (sql, name) => {
  expect(read(sql)).toMatchObject({
    fault: { kind: 'incomplete', name, hint: expect.stringContaining('molar mirror sync appointments') },
  });
  expect(read(sql, { partial: true })).toHaveProperty('rows');
});

test('a resource that the service does not give says why', () => {
  for (const table of ['events', 'event_recurrence_days'])
    expect(read(`SELECT * FROM ${table}`)).toMatchObject({ fault: { message: expect.stringContaining('403') } });
  expect(read('SELECT count(*) FROM patient_insurance_plans')).toMatchObject({ rows: [[0]] });
});

test('parameters are bound by any of their three forms', () => {
  const parameters = { id: 5n, name: 'Ann' };
  expect(
    read('SELECT id FROM patients WHERE id = :id AND first_name = $name AND id = @id', { parameters }),
  ).toMatchObject({ rows: [[5]] });
  expect(read('SELECT :id + 1, typeof(:name)', { parameters })).toMatchObject({ rows: [[6, 'text']] });
});

test('a file that is no mirror is left alone', () => {
  const other = join(folder, 'other.db');
  writeFileSync(
    other,
    'This is a text file, and long enough to be taken for the header of a database of SQLite. '.repeat(10),
  );
  const statement = { sql: 'SELECT 1', parameters: {}, partial: false };
  expect(new SqliteReader().answer({ file: other, statement })).toMatchObject({ fault: { kind: 'mirror' } });
  writeFileSync(other, '');
  expect(new SqliteReader().answer({ file: other, statement })).toMatchObject({ fault: { kind: 'missing' } });
  expect(readFileSync(other, 'utf8')).toBe('');
});
