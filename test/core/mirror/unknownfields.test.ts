import { beforeEach, expect, it } from 'vitest';
import { type MirrorRecord, recordOf } from '../../../src/core/mirror/records.ts';
import { SqlMirror } from '../../../src/core/mirror/sql/sqlmirror.ts';
import { SqliteDatabase } from '../../../src/core/mirror/sqlite/database.ts';
import type { MirrorFacts } from '../../../src/core/mirror/store.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import { TableComparison } from '../../../src/core/mirror/verify/comparison.ts';
import { openConnection } from '../../../src/sqlite/open.ts';
import { mirrorFolder } from './mirroring.ts';
import { queried } from './oracle.ts';

const TAGS = MIRROR_TABLES.find(({ name }) => name === 'transaction_tags') as MirrorTable;
const FACTS = { organization: 'o', url: 'u', history: false, columns: {}, timezone: null };
const ZONES = { locations: [], zone: 'UTC', isComputers: false };
const PUBLISHED = { state: {}, found: null, missing: 0, border: 1 };
const AT = '2026-01-01T00:00:00.000Z';
const OPTIONS = { zones: ZONES, instantOf: () => Number.NaN, now: Date.now };

let file: string;

beforeEach(async () => {
  ({ file } = await mirrorFolder());
});

/** Brings records into the file, each time as another run does. */
async function write(...records: readonly string[]): Promise<void> {
  return writeTo(await SqliteDatabase.open(file), records);
}

/** Brings records, each in a part of its own where they are apart. */
async function writeTo(database: SqliteDatabase, ...parts: readonly (readonly string[])[]): Promise<void> {
  return writeAs(FACTS, database, ...parts);
}

async function writeAs(
  facts: MirrorFacts,
  database: SqliteDatabase,
  ...parts: readonly (readonly string[])[]
): Promise<void> {
  const store = await SqlMirror.open(database, facts, OPTIONS);
  try {
    for (const records of parts) await store.stage(TAGS, records.map(recordOf));
    await store.publish({ tables: new Map([[TAGS, PUBLISHED]]), locations: undefined, at: AT });
  } finally {
    await store.close();
  }
}

/** The values of a column by id, as text with the kind of storage of each; and what the file says of the column. */
function column(name: string): { readonly type: unknown; readonly values: readonly unknown[] } {
  const connection = openConnection(file, { readonly: true });
  try {
    const pluck = (query: string) => connection.prepare(query).pluck().all();
    return {
      type: pluck(`SELECT type FROM pragma_table_info('transaction_tags') WHERE name = '${name}'`)[0],
      values: pluck(`SELECT typeof(${name}) || ' ' || coalesce(${name}, '') FROM transaction_tags ORDER BY id`),
    };
  } finally {
    connection.close();
  }
}

it('long numbers are exact and numeric as far as SQLite has such, also where the first one is long', async () => {
  await write('{"id":1,"extra":1234567890123456789}', '{"id":2,"extra":-9223372036854775807}');
  await write('{"id":3,"extra":9223372036854775807}', '{"id":4,"extra":1.5}', '{"id":5}', '{"id":6,"extra":7}');
  expect(column('extra')).toEqual({
    type: 'NUMERIC',
    values: [
      'integer 1234567890123456789',
      'integer -9223372036854775807',
      'integer 9223372036854775807',
      'real 1.5',
      'null ',
      'integer 7',
    ],
  });
});

it('digits that are sent as text are text, whatever their length', async () => {
  await write('{"id":1,"extra":"12345678901234567890"}');
  await write('{"id":2,"extra":"007"}');
  expect(column('extra')).toEqual({ type: 'TEXT', values: ['text 12345678901234567890', 'text 007'] });
});

it('lists and objects are JSON in every run, and so is what takes their place', async () => {
  await write('{"id":1,"extra":{"a":[1,"x"]}}', '{"id":2,"extra":"x"}');
  await write('{"id":3,"extra":["y"]}', '{"id":4,"extra":"x"}');
  expect(column('extra').values).toEqual(['text {"a":[1,"x"]}', 'text "x"', 'text ["y"]', 'text "x"']);
});

it('true and false are 1 and 0 in every run, and a name that is taken gets a number', async () => {
  await write('{"id":1,"tag_text":null,"tagText":"a"}', '{"id":1,"tag_text":true,"tagText":"a"}');
  await write('{"id":2,"tag_text":false,"tagText":"b"}');
  expect(column('tag_text_2')).toEqual({ type: 'INTEGER', values: ['integer 1', 'integer 0'] });
  expect(column('tag_text').values).toEqual(['text a', 'text b']);
});

it('long numbers within objects and lists are as they came, and digits that are sent as text stay text', async () => {
  const sent = ['{"x":12345678901234567000}', '{"x":"12345678901234567000"}', '[0.12345678901234567891,"a"]'];
  await write(...sent.map((extra, index) => `{"id":${index + 1},"extra":${extra}}`));
  expect(column('extra').values).toEqual(sent.map((extra) => `text ${extra}`));
});

it('fields whose names agree in more than PostgreSQL keeps of a name have columns of their own', async () => {
  const long = 'x'.repeat(63);
  await write(`{"id":1,"${long}a":1,"${long}b":2}`, `{"id":2,"${long}b":3}`);
  expect(column('x'.repeat(60)).values).toEqual(['integer 1', 'null ']);
  expect(column(`${'x'.repeat(60)}_2`).values).toEqual(['integer 2', 'integer 3']);
});

it('a table that is too busy for a new column is tried once in a run, and the next one fills what is there', async () => {
  const busy = await SqliteDatabase.open(file);
  let tries = 0;
  busy.alter = async () => {
    tries++;
    return false;
  };
  await writeTo(busy, ['{"id":1,"extra":"a"}', '{"id":2,"extra":null}'], ['{"id":3,"extra":"c"}'], ['{"id":4}']);
  expect(tries).toBe(1);
  await write('{"id":5,"extra":"e"}');
  expect(column('extra').values).toEqual(['text a', 'null ', 'text c', 'null ', 'text e']);
});

it('a new column that had to wait is filled in every row and its latest version, and these are as old as before', async () => {
  const facts = { ...FACTS, history: true };
  const busy = async () => {
    const database = await SqliteDatabase.open(file);
    database.alter = async () => false;
    return database;
  };
  // More than are filled at a time.
  const ids = Array.from({ length: 1100 }, (_, index) => index + 1);
  await writeAs(facts, await busy(), ['{"id":1,"extra":"old"}']);
  await writeAs(
    facts,
    await busy(),
    ids.map((id) => `{"id":${id},"extra":"x${id}"}`),
  );
  await writeAs(facts, await SqliteDatabase.open(file), ['{"id":2000,"extra":"new"}']);
  const wanted = [...ids.map((id) => `text x${id}`), 'text new'];
  expect(column('extra').values).toEqual(wanted);
  const versions = queried(file, 'SELECT id, extra, _valid_to FROM transaction_tags_history ORDER BY rowid');
  expect(versions[0]).toEqual({ id: 1, extra: null, _valid_to: AT });
  expect(versions.slice(1).map(({ extra }) => `text ${extra}`)).toEqual(wanted);
  expect(queried(file, 'SELECT DISTINCT _synced_at AS at FROM transaction_tags')).toEqual([{ at: AT }]);
});

it('a comparison takes a field that came later for no difference in rows that were read before, and for one in others', async () => {
  const name = "it's";
  await write('{"id":1}', '{"id":2}', `{"id":3,"${name}":"here"}`);
  const database = await SqliteDatabase.open(file);
  const store = await SqlMirror.open(database, FACTS, OPTIONS);
  try {
    const comparison = await TableComparison.open(database, store.tables, TAGS);
    const records = [`{"id":1,"${name}":"new"}`, '{"id":2}', `{"id":3,"${name}":"there"}`, '{"id":4}'].map(recordOf);
    expect(await comparison.compare(records)).toEqual({ missing: ['4'], different: ['3'] });
    expect(await comparison.fieldsOf(records[2] as MirrorRecord)).toEqual([name]);
    const learned = [`{"id":1,"more":1}`, `{"id":3,"${name}":"here","more":2}`].map(recordOf);
    expect(await comparison.compare(learned)).toEqual({ missing: [], different: [] });
  } finally {
    await store.close();
  }
});

it('a new column that had to wait is there with the next sync of the same run, whatever that brings', async () => {
  const database = await SqliteDatabase.open(file);
  const alter = database.alter.bind(database);
  const answers = [false, false];
  database.alter = async (statements) => answers.pop() ?? alter(statements);
  const store = await SqlMirror.open(database, FACTS, OPTIONS);
  try {
    for (const records of [['{"id":1,"extra":"a"}', '{"id":3,"late":3}'], [], ['{"id":2,"other":2}'], []]) {
      await store.discard();
      for (const record of records) await store.stage(TAGS, [recordOf(record)]);
      await store.publish({ tables: new Map([[TAGS, PUBLISHED]]), locations: undefined, at: AT });
    }
  } finally {
    await store.close();
  }
  expect(column('extra').values).toEqual(['text a', 'null ', 'null ']);
  expect(column('other').values).toEqual(['null ', 'integer 2', 'null ']);
  expect(column('late').values).toEqual(['null ', 'null ', 'integer 3']);
  expect(queried(file, 'SELECT extra, other, late FROM v_transaction_tags WHERE id = 3')).toEqual([
    { extra: null, other: null, late: 3 },
  ]);
});
