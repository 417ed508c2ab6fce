import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as near from '../../../../src/server/store/sqlite/bulkloadport.ts';
import { BulkLoadTransaction } from '../../../../src/server/store/sqlite/bulkloadtransaction.ts';
import { type Connection, openConnection } from '../../../../src/sqlite/open.ts';

let folder: string;
let file: string;
let reading: Connection;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-filling-'));
  file = join(folder, 'test.sqlite');
  reading = openConnection(file);
  reading.pragma('journal_mode = WAL');
  reading.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, name UNIQUE); CREATE INDEX t_by_name ON t (name)');
});

afterEach(async () => {
  reading.close();
  await rm(folder, { recursive: true });
});

/** What another connection sees: committed rows only. */
const stored = () => reading.prepare('SELECT name FROM t ORDER BY id').pluck().all();
const indexes = () => reading.prepare("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE INDEX%'").pluck().all();
const insert = (name: string | number | null) => sql`INSERT INTO t (name) VALUES (${name})`;

const built = createRequire(import.meta.url)('../../../../dist/server/store/sqlite/bulkloadport.js') as typeof near;

// Tests run from the sources, which no thread can load: what the build made of them is tried beside them.
describe.each([
  ['in this thread', near],
  ['in a thread of its own', built],
])('a transaction that fills tables %s', (_, { openPort }) => {
  let port: near.Port;
  let tx: BulkLoadTransaction;

  beforeEach(async () => {
    port = openPort(file, 'apart');
    tx = new BulkLoadTransaction(port);
    await tx.begin();
  });

  it('has everything on disk, in its order, once it is committed', async () => {
    const names = Array.from({ length: 2500 }, (_, index) => `name ${index}`);
    for (const name of names) expect(await tx.run(insert(name))).toBe(0);
    expect(stored()).toEqual([]);
    await tx.commit();
    expect(stored()).toEqual(names);
    expect(tx.written).toEqual(new Set(['t']));
    await port.close();
  });

  it.each<[string, unknown, unknown]>([
    ['text of many letters', 'Zoë 牙 𝒟', 'Zoë 牙 𝒟'],
    ['a NUL character', 'a\0b', 'a\u{FFFD}b'],
    ['a large number', 9_007_199_254_740_991, 9_007_199_254_740_991],
    ['a fraction', 0.1, 0.1],
    ['a truth value', true, 1],
    ['nothing', undefined, null],
    ['bytes', Buffer.from([0, 255]), Buffer.from([0, 255])],
    ['a text longer than a batch', 'x'.repeat(3_000_000), 'x'.repeat(3_000_000)],
  ])('keeps %s as it is', async (_, value, kept) => {
    const text = 'INSERT INTO t (name) VALUES (?)';
    await tx.run({ sql: text, text, values: [value] });
    await tx.commit();
    expect(stored()).toEqual([kept]);
    await port.close();
  });

  it('reads what it has written, and gives ids one after another', async () => {
    await tx.run(insert('a'));
    await tx.run(insert('b'));
    expect(await tx.all(sql`SELECT name FROM t WHERE name > ${'a'}`)).toEqual([{ name: 'b' }]);
    expect(await tx.get(sql`SELECT name FROM t WHERE name = ${'none'}`)).toBeUndefined();
    await tx.run(sql`CREATE TABLE sequences (org, type, last_id, PRIMARY KEY (org, type))`);
    expect([await tx.nextId(1, 'x'), await tx.nextId(1, 'x'), await tx.nextId(2, 'x')]).toEqual([1, 2, 1]);
    await port.close();
  });

  it('tells of a fault at the next statement, and leaves nothing', async () => {
    await tx.run(insert('a'));
    await tx.run(insert('a'));
    const fault = { message: 'UNIQUE constraint failed: t.name', code: 'SQLITE_CONSTRAINT_UNIQUE' };
    await expect(tx.get(sql`SELECT 1 AS found`)).rejects.toMatchObject(fault);
    await expect(tx.run(insert('b'))).rejects.toMatchObject(fault);
    await expect(tx.commit()).rejects.toMatchObject(fault);
    await port.close();
    expect(stored()).toEqual([]);
  });

  it('does not commit what a statement before the commit has failed of', async () => {
    await tx.run(insert('a'));
    await tx.run(insert('a'));
    await expect(tx.commit()).rejects.toThrow('UNIQUE constraint failed');
    await port.close();
    expect(stored()).toEqual([]);
  });

  it('leaves nothing when it is closed before it is committed', async () => {
    for (let index = 0; index < 1000; index++) await tx.run(insert(index));
    await port.close();
    expect(stored()).toEqual([]);
  });

  it('keeps its tables without indexes until it makes them again', async () => {
    const { restore } = await tx.beginBulkLoad(['t']);
    await tx.run(insert('a'));
    const named = sql`SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE INDEX%'`;
    expect(await tx.all(named)).toEqual([]);
    await restore();
    expect(await tx.all(named)).toEqual([{ name: 't_by_name' }]);
    await tx.commit();
    expect([stored(), indexes()]).toEqual([['a'], ['t_by_name']]);
    await port.close();
  });

  it('waits for another process that is writing', async () => {
    const second = openPort(file, 'apart');
    const after = new BulkLoadTransaction(second);
    const begun = after.begin();
    await tx.run(insert('first'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await tx.commit();
    await port.close();
    await begun;
    await after.run(insert('second'));
    await after.commit();
    await second.close();
    expect(stored()).toEqual(['first', 'second']);
  });
});

it('a thread that cannot open the database says why', async () => {
  const port = built.openPort(join(folder, 'none', 'test.sqlite'), 'apart');
  await expect(new BulkLoadTransaction(port).begin()).rejects.toThrow(/none/);
  await port.close();
});
