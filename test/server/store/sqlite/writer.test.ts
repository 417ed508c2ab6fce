import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import { GroupWriter } from '../../../../src/server/store/sqlite/writer.ts';
import type { Transaction } from '../../../../src/server/store/store.ts';
import { type Connection, openConnection } from '../../../../src/sqlite/open.ts';

let folder: string;
let writing: Connection;
let reading: Connection;
let writer: GroupWriter;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-writer-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  writing = openConnection(join(folder, 'test.sqlite'));
  writing.pragma('journal_mode = WAL');
  writing.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
  reading = openConnection(join(folder, 'test.sqlite'), { readonly: true });
  writer = new GroupWriter(writing);
});

afterEach(async () => {
  await writer.idle();
  reading.close();
  writing.close();
});

const insert = (name: string) => (tx: Transaction) => tx.run(sql`INSERT INTO t (name) VALUES (${name})`);
/** What another connection sees: committed rows only. */
const stored = () =>
  (reading.prepare('SELECT name FROM t ORDER BY id').all() as { name: string }[]).map((row) => row.name);

describe('GroupWriter', () => {
  it('has a write on disk when it says so', async () => {
    expect(await writer.submit(insert('a'))).toBe(1);
    expect(stored()).toEqual(['a']);
  });

  it('commits writes of one turn together, in their order', async () => {
    const seen: string[][] = [];
    const writes = ['a', 'b', 'c'].map((name) =>
      writer.submit(async (tx) => {
        await insert(name)(tx);
        seen.push(stored());
      }),
    );
    await Promise.all(writes);
    expect(seen).toEqual([[], [], []]);
    expect(stored()).toEqual(['a', 'b', 'c']);
  });

  it('commits a group before it takes long, and the rest in the next ones, in order and each once', async () => {
    let time = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time);
    const before = writer.counts.commits;
    const writes = Array.from({ length: 12 }, (_, n) =>
      writer.submit(async (tx) => {
        time += 10;
        await insert(n === 7 ? 'n0' : `n${n}`)(tx);
      }),
    );
    const settled = await Promise.allSettled(writes);
    clock.mockRestore();
    expect(settled.map(({ status }) => status === 'rejected')).toEqual(writes.map((_, n) => n === 7));
    expect(stored()).toEqual(writes.map((_, n) => `n${n}`).filter((name) => name !== 'n7'));
    expect(writer.counts.commits - before).toBeGreaterThanOrEqual(4);
  });

  it('shows a write what those before it in the group wrote', async () => {
    const first = writer.submit(insert('a'));
    const second = writer.submit((tx) => tx.all<{ name: string }>(sql`SELECT name FROM t`));
    expect(await second).toEqual([{ name: 'a' }]);
    await first;
  });

  it('undoes a write that fails, all of it, and leaves the others', async () => {
    const outcomes = await Promise.allSettled([
      writer.submit(insert('a')),
      writer.submit(async (tx) => {
        await insert('lost')(tx);
        throw new Error('no');
      }),
      writer.submit(insert('a')),
      writer.submit(insert('b')),
    ]);
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.message : outcome.value))).toEqual(
      [1, 'no', 'UNIQUE constraint failed: t.name', 1],
    );
    expect(stored()).toEqual(['a', 'b']);
  });

  it('runs the works of a group once while none of them fails', async () => {
    const runs: string[] = [];
    const work = (name: string) => async (tx: Transaction) => {
      runs.push(name);
      await insert(name)(tx);
    };
    await Promise.all(['a', 'b'].map((name) => writer.submit(work(name))));
    expect(runs).toEqual(['a', 'b']);
    expect(writer.counts).toEqual({ writes: 2, commits: 1 });
  });

  it('runs a work that fills tables by itself, and once from there on', async () => {
    const runs: string[] = [];
    const filling = async (tx: Transaction) => {
      const { restore } = await tx.beginBulkLoad([]);
      runs.push(`filling, others committed: ${stored()}`);
      await insert('filled')(tx);
      await restore();
    };
    const failing = async () => {
      throw new Error('no');
    };
    const outcomes = await Promise.allSettled([
      writer.submit(insert('a')),
      writer.submit(failing),
      writer.submit(filling),
      writer.submit(insert('b')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(runs).toEqual(['filling, others committed: a,b']);
    expect(stored()).toEqual(['a', 'b', 'filled']);
  });

  it('refuses every write of a group whose transaction is lost', async () => {
    const lost = async (tx: Transaction) => {
      await tx.run(sql`ROLLBACK`);
      throw new Error('The disk is full.');
    };
    const outcomes = await Promise.allSettled([
      writer.submit(insert('a')),
      writer.submit(lost),
      writer.submit(insert('b')),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(stored()).toEqual([]);
    await writer.submit(insert('c'));
    expect(stored()).toEqual(['c']);
  });

  it('takes a write that comes while a group runs, and one that a write makes', async () => {
    const late: Promise<unknown>[] = [];
    await writer.submit(async (tx) => {
      late.push(writer.submit(insert('later')));
      await insert('first')(tx);
    });
    await Promise.all(late);
    expect(stored()).toEqual(['first', 'later']);
    await writer.idle();
  });

  it('waits for another process that is writing', async () => {
    const other = openConnection(join(folder, 'test.sqlite'));
    other.exec('BEGIN IMMEDIATE');
    other.exec("INSERT INTO t (name) VALUES ('other')");
    const mine = writer.submit(insert('mine'));
    await new Promise((resolve) => setTimeout(resolve, 30));
    other.exec('COMMIT');
    other.close();
    await mine;
    expect(stored()).toEqual(['other', 'mine']);
  });

  it('writes more than a group can hold', async () => {
    const names = Array.from({ length: 700 }, (_, n) => `n${n}`);
    await Promise.all(names.map((name) => writer.submit(insert(name))));
    expect(stored()).toEqual(names);
  });

  it('has the rows of logs of a group once, and none of a write in it that failed', async () => {
    const store = await openSqliteStore(folder, { serving: false });
    onTestFinished(() => store.close());
    const tell = (n: number) =>
      store.write(async (tx) => {
        await tx.append({ log: 'stream', values: [1, 'key', 'now', null, String(n), '', null, n, null] });
        if (n === 2) throw new Error('no');
      });
    await Promise.allSettled([1, 2, 3].map(tell));
    expect(await store.read.all(sql`SELECT seq, payload FROM stream_messages ORDER BY seq`)).toEqual([
      { seq: 1, payload: '1' },
      { seq: 2, payload: '3' },
    ]);
  });

  it('keeps exactly the writes it acknowledges (property)', async () => {
    const jobs = fc.array(fc.record({ turn: fc.integer({ min: 0, max: 2 }), fails: fc.boolean() }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(jobs, async (list) => {
        writing.exec('DELETE FROM t');
        const running = list.map(async ({ turn, fails }, n) => {
          for (let pause = 0; pause < turn; pause++) await new Promise((resolve) => setImmediate(resolve));
          return writer.submit(async (tx) => {
            await insert(`n${n}`)(tx);
            if (fails) throw new Error('no');
            return `n${n}`;
          });
        });
        const outcomes = await Promise.allSettled(running);
        const kept = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
        expect(kept).toEqual(list.flatMap(({ fails }, n) => (fails ? [] : [`n${n}`])));
        expect(stored().sort()).toEqual(kept.sort());
      }),
      { numRuns: 25 },
    );
  });
});
