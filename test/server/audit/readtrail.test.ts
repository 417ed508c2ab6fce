import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AuditEntry, auditRow } from '../../../src/server/audit/entries.ts';
import { type AuditMode, ReadTrail } from '../../../src/server/audit/readtrail.ts';
import { ENTRY_COLUMNS } from '../../../src/server/store/auditlog.ts';
import type { LogRow, Store } from '../../../src/server/store/store.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const entry = (n: number): AuditEntry => ({
  ...{ org: 1, at: '2026-03-02T12:00:00.000Z', operation: `read ${n}` },
  actor: { who: 'token', address: null, requestId: `r-${n}` },
});

/** A trail into a store of which the test says whether it can be written. */
function trail(mode?: AuditMode) {
  const written: string[][] = [];
  const faults: unknown[] = [];
  const state = { failing: false, waiting: undefined as Promise<void> | undefined };
  const operation = ({ values }: LogRow) => String(values[ENTRY_COLUMNS.indexOf('operation')]);
  const appendLogs = async (rows: readonly LogRow[]) => {
    await state.waiting;
    if (state.failing) throw new Error('full');
    written.push(rows.map(operation));
  };
  const reads = new ReadTrail({ appendLogs } as Pick<Store, 'appendLogs'> as Store, mode);
  reads.onFault = (error, requestId) => void faults.push([String(error), requestId]);
  return { reads, written, faults, state };
}

const UNAVAILABLE = { problems: [{ code: 'audit.unavailable' }], status: 503 };

describe('a read in strict mode', () => {
  it('is answered when its entry is on disk, and not before', async () => {
    const { reads, written, state } = trail();
    let write = () => {};
    state.waiting = new Promise((resolve) => {
      write = resolve;
    });
    let isTold = false;
    const told = reads.disclose(entry(1))?.then(() => {
      isTold = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(isTold).toBe(false);
    write();
    await told;
    expect(written).toEqual([['read 1']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is refused when its entry cannot be written, and so are all until one can be', async () => {
    const { reads, written, faults, state } = trail('strict');
    state.failing = true;
    const both = [reads.disclose(entry(1)), reads.disclose(entry(2))];
    for (const told of both) await expect(told).rejects.toMatchObject(UNAVAILABLE);
    expect(faults).toEqual([
      ['Error: full', 'r-1'],
      ['Error: full', 'r-2'],
    ]);
    expect(reads.isWritable).toBe(false);
    expect(() => reads.admit()).toThrow('cannot be written');
    expect(() => reads.disclose(entry(3))).toThrow('cannot be written');
    expect(() => reads.record([auditRow(entry(3))], entry(3).at)).toThrow('cannot be written');
    await vi.advanceTimersByTimeAsync(149);
    expect(faults).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(faults.slice(2)).toEqual([['Error: full', undefined]]);
    expect(reads.isWritable).toBe(false);
    state.failing = false;
    await vi.advanceTimersByTimeAsync(150);
    expect(reads.isWritable).toBe(true);
    // Of both one entry: that reading was not possible.
    expect(written).toEqual([['audit.unavailable']]);
    reads.admit();
    await reads.disclose(entry(4));
    expect(written).toEqual([['audit.unavailable'], ['read 4']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that another process answers is as any other', async () => {
    const { reads, written, faults, state } = trail();
    await reads.record([auditRow(entry(1)), auditRow(entry(2))], entry(1).at);
    expect(written).toEqual([['read 1', 'read 2']]);
    state.failing = true;
    await expect(reads.record([auditRow(entry(3))], entry(3).at)).rejects.toMatchObject(UNAVAILABLE);
    expect(faults).toEqual([['Error: full', undefined]]);
  });

  it('says of what is not possible when, and that the server says so', async () => {
    const rows: LogRow[] = [];
    let failing = true;
    const appendLogs = async (some: readonly LogRow[]) => {
      if (failing) throw new Error('full');
      rows.push(...some);
    };
    const reads = new ReadTrail({ appendLogs } as Pick<Store, 'appendLogs'> as Store);
    await expect(reads.disclose(entry(1))).rejects.toMatchObject(UNAVAILABLE);
    failing = false;
    await reads.flush();
    const actor = { who: 'server', address: null, requestId: null };
    expect(rows).toEqual([auditRow({ org: null, at: entry(1).at, actor, operation: 'audit.unavailable' })]);
  });
});

describe('a read in buffered mode', () => {
  it('is answered at once, and its entry written 150 ms later with those that came meanwhile', async () => {
    const { reads, written } = trail('buffered');
    expect(reads.disclose(entry(1))).toBeUndefined();
    await vi.advanceTimersByTimeAsync(100);
    reads.note(entry(2));
    await vi.advanceTimersByTimeAsync(49);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toEqual([['read 1', 'read 2']]);
    reads.note(entry(3));
    await vi.advanceTimersByTimeAsync(150);
    expect(written.slice(1)).toEqual([['read 3']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is refused from the first entry on that cannot be written; none is lost, and none written twice', async () => {
    const { reads, written, faults, state } = trail('buffered');
    state.failing = true;
    void reads.disclose(entry(1));
    void reads.disclose(entry(2));
    await vi.advanceTimersByTimeAsync(150);
    expect(reads.isWritable).toBe(false);
    expect(() => reads.disclose(entry(3))).toThrow('cannot be written');
    reads.note(entry(4));
    await vi.advanceTimersByTimeAsync(300);
    expect(faults).toEqual(Array(3).fill(['Error: full', undefined]));
    state.failing = false;
    await vi.advanceTimersByTimeAsync(150);
    expect(written).toEqual([['read 1', 'read 2', 'read 4']]);
    expect(reads.isWritable).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(written).toHaveLength(1);
  });
});

describe('noted entries', () => {
  it('are written 500 at a time, in their order', async () => {
    const { reads, written } = trail('buffered');
    for (let n = 0; n < 1100; n++) reads.note(entry(n));
    await reads.flush();
    expect(written.map(({ length }) => length)).toEqual([500, 500, 100]);
    expect(written.flat()).toEqual(Array.from({ length: 1100 }, (_, n) => `read ${n}`));
  });

  it('are written at once when they are asked for, and rejected when they cannot be', async () => {
    const { reads, written, state } = trail('buffered');
    reads.note(entry(1));
    state.failing = true;
    await expect(reads.flush()).rejects.toThrow('full');
    expect(reads.isWritable).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
    state.failing = false;
    const [first, second] = [reads.flush(), reads.flush()];
    await Promise.all([first, second]);
    expect(written).toEqual([['read 1']]);
    await reads.flush();
    expect(written).toEqual([['read 1']]);
    reads.note(entry(2));
    await reads.flush();
    expect(written).toEqual([['read 1'], ['read 2']]);
  });

  it('that come while others are written are written with these', async () => {
    const { reads, written, state } = trail('buffered');
    let write = () => {};
    state.waiting = new Promise((resolve) => {
      write = resolve;
    });
    reads.note(entry(1));
    const flushed = reads.flush();
    reads.note(entry(2));
    write();
    await flushed;
    expect(written).toEqual([['read 1'], ['read 2']]);
  });

  it('are 10,000 at most: then nothing is read until they are written', async () => {
    const { reads, written } = trail('buffered');
    for (let n = 0; n < 9999; n++) reads.note(entry(n));
    expect(reads.takesNotes).toBe(true);
    void reads.disclose(entry(9999));
    expect([reads.takesNotes, reads.isWritable]).toEqual([false, true]);
    expect(() => reads.admit()).toThrow('cannot be written');
    // What has happened already is noted all the same.
    reads.note(entry(10_000));
    await reads.flush();
    expect(written.flat()).toHaveLength(10_001);
    reads.admit();
    expect(reads.takesNotes).toBe(true);
  });
});
