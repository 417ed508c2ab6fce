import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReadLock } from '../../../../src/server/store/sqlite/lock.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import { type Connection, openConnection } from '../../../../src/sqlite/open.ts';

let folder: string;
let writing: Connection;
let reading: Connection;
let holding: Connection;
let lock: ReadLock;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-readlock-'));
  const file = join(folder, 'test.sqlite');
  writing = openConnection(file);
  writing.pragma('journal_mode = WAL');
  writing.exec('CREATE TABLE schema_migrations (name TEXT); CREATE TABLE t (n INTEGER)');
  [reading, holding] = [openConnection(file, { readonly: true }), openConnection(file, { readonly: true })];
  lock = new ReadLock(holding);
});

afterEach(async () => {
  for (const connection of [writing, reading, holding]) connection.close();
  await rm(folder, { recursive: true });
});

const insert = () => writing.exec('INSERT INTO t VALUES (1)');
const seen = () => reading.prepare('SELECT COUNT(*) FROM t').pluck().get();

describe('ReadLock', () => {
  it('lets the others see what is committed while it is held', () => {
    lock.hold();
    insert();
    expect(seen()).toBe(1);
    lock.hold();
    insert();
    expect(seen()).toBe(2);
  });

  it('is let go in the turn after the one in which it was taken', async () => {
    lock.hold();
    expect(holding.inTransaction).toBe(true);
    await turn();
    expect(holding.inTransaction).toBe(false);
    lock.hold();
    expect(holding.inTransaction).toBe(true);
  });

  it('keeps the journal from being emptied only until it is let go', () => {
    const emptied = () => (writing.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[])[0]?.busy === 0;
    insert();
    lock.hold();
    expect(emptied()).toBe(false);
    lock.release();
    expect(emptied()).toBe(true);
  });

  it('is not held where it cannot be taken, and its connection may be closed before it is let go', async () => {
    writing.exec('DROP TABLE schema_migrations');
    lock.hold();
    expect(holding.inTransaction).toBe(false);
    writing.exec('CREATE TABLE schema_migrations (name TEXT)');
    lock.hold();
    holding.close();
    await turn();
    expect(seen()).toBe(0);
  });
});

it('a store that is read all the time begins its journal anew', async () => {
  const data = await mkdtemp(join(folder, 'data-'));
  const store = await openSqliteStore(data, { serving: true });
  for (let round = 0; round < 60; round++) {
    // As requests do that come in while others are written.
    await store.write(async (tx) => {
      store.countCache();
      await tx.run(sql`INSERT INTO settings (name, value) VALUES ('large', ${String(round % 10).repeat(1_000_000)})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
    });
  }
  expect((await stat(join(data, 'molar.sqlite-wal'))).size).toBeLessThan(25_000_000);
  await store.close();
});
