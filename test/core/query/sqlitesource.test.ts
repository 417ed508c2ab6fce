import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QueryFault } from '../../../src/core/query/fault.ts';
import type { MirroredTable } from '../../../src/core/query/mirrortables.ts';
import { openReadOnly } from '../../../src/core/query/sqliteopen.ts';
import { SqliteReader } from '../../../src/core/query/sqlitereader.ts';
import { SqliteSource } from '../../../src/core/query/sqlitesource.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { makeMirror } from '../../support/mirrorfile.ts';

const folder = mkdtempSync(join(tmpdir(), 'molar-query-'));
const file = join(folder, 'mirror.db');
/** More than two pages of records. */
const COUNT = 1001;

beforeAll(() => {
  makeMirror(
    file,
    'DELETE FROM patients',
    `WITH RECURSIVE n (id) AS (SELECT ${COUNT} UNION ALL SELECT id - 1 FROM n WHERE id > 1)
      INSERT INTO patients (id, _record) SELECT id, '{"id":' || id || '}' FROM n`,
  );
});

afterAll(() => rmSync(folder, { recursive: true }));

function change(path: string, sql: string): void {
  const connection = openConnection(path);
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

const PATIENTS = { tableName: 'patients' } as MirroredTable;

async function idsOf(source: SqliteSource): Promise<unknown[]> {
  const ids: unknown[] = [];
  for await (const { rows } of source.pages(PATIENTS)) ids.push(...rows.map(({ id }) => id));
  return ids;
}

/** The kind of fault that work ends with. */
const faultOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'none',
      (cause: unknown) => (cause instanceof QueryFault ? cause.facts.kind : cause),
    );

test('all records are given once, in the order of their ids, as they were when it was opened', async () => {
  const source = await SqliteSource.open(file);
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);
  try {
    expect(await idsOf(source)).toEqual(all);
    change(file, 'DELETE FROM patients WHERE id = 1');
    expect(await idsOf(source)).toEqual(all);
  } finally {
    await source.close();
  }
});

test.each([
  ['no JSON', "'{'", 'file'],
  ['none', 'NULL', 'sql'],
])('a record that is %s is a fault', async (_, record, kind) => {
  const path = copied('records.db');
  change(path, `UPDATE patients SET _record = ${record} WHERE id = 700`);
  const source = await SqliteSource.open(path);
  try {
    expect(await faultOf(() => idsOf(source))).toBe(kind);
  } finally {
    await source.close();
  }
});

test('nothing can be written over a connection that reads: each of two locks holds without the other', () => {
  const connection = openReadOnly(file);
  try {
    expect(() => connection.exec('CREATE TEMP TABLE more (id)')).toThrow(/readonly/);
    connection.pragma('query_only = OFF');
    expect(() => connection.exec('DELETE FROM patients')).toThrow(/readonly/);
  } finally {
    connection.close();
  }
});

test.each([
  ['of another program', 'PRAGMA application_id = 7'],
  ['of a newer molar', 'PRAGMA user_version = 2'],
  ['without the table of a mirror', 'DROP TABLE _mirror'],
])('a file %s is no mirror', async (_, sql) => {
  const path = copied('other.db');
  change(path, sql);
  expect(await faultOf(() => SqliteSource.open(path))).toBe('mirror');
  const statement = { sql: 'SELECT 1', parameters: {}, partial: false };
  expect(new SqliteReader().answer({ file: path, statement })).toMatchObject({ fault: { kind: 'mirror' } });
});

test('a file whose pages are damaged is at fault itself, not the statement', () => {
  const path = copied('damaged.db');
  const bytes = readFileSync(path);
  // Behind the first pages, which say what tables there are.
  bytes.fill(0xff, bytes.length / 2);
  writeFileSync(path, bytes);
  const reader = new SqliteReader();
  const statement = { sql: 'SELECT sum(id) FROM patients', parameters: {}, partial: false };
  const opened = reader.answer({ file: path, statement });
  expect('fault' in opened ? opened : reader.answer({ rows: 1 })).toMatchObject({ fault: { kind: 'file' } });
});

function copied(name: string): string {
  change(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  const path = join(folder, name);
  copyFileSync(file, path);
  return path;
}
