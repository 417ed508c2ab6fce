import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { RECORD_KINDS, type RecordKind } from '../../../../src/server/import/kinds.ts';
import { STEPS, StagedLines, stepOf } from '../../../../src/server/import/staged/stagedlines.ts';
import type { Row, StagingArea, Statement } from '../../../../src/server/store/store.ts';

/** Staged lines of an area that notes what is asked of it: how many statements are written, and reads. */
function open() {
  const asked: (number | 'read')[] = [];
  const read = async <T extends object = Row>(_: Statement): Promise<T[]> => {
    asked.push('read');
    return [];
  };
  const area: StagingArea = {
    read: { all: read, get: async <T extends object = Row>(statement: Statement) => (await read<T>(statement))[0] },
    write: async (batch) => void asked.push(batch.length),
    sync: async () => undefined,
    close: async () => undefined,
  };
  return { staged: new StagedLines(area, 'the-import'), asked };
}

const put = (staged: StagedLines, id: number, record: string | null) =>
  staged.put({ org: 1, type: 'PatientV1', id, step: STEPS.patients, line: id, record, link: null, twin: null });

it('lines are written 500 at a time', async () => {
  const { staged, asked } = open();
  for (let id = 1; id <= 499; id++) await put(staged, id, '{}');
  expect(asked).toEqual([]);
  await put(staged, 500, null);
  expect(asked).toEqual([500]);
  await put(staged, 501, null);
  await staged.flush();
  await staged.flush();
  expect(asked).toEqual([500, 1]);
});

it('lines are written before they take more than some 4 million characters', async () => {
  const { staged, asked } = open();
  const own = 'the-import'.length + 'PatientV1'.length;
  const half = 'x'.repeat(2_000_000 - own);
  await put(staged, 1, half);
  await put(staged, 2, half.slice(1));
  expect(asked).toEqual([]);
  await staged.queue(sql`SELECT ${'x'}`);
  expect(asked).toEqual([3]);
  // What was written counts no more.
  await put(staged, 3, half);
  await put(staged, 4, half.slice(1));
  expect(asked).toEqual([3]);
  await put(staged, 5, '');
  expect(asked).toEqual([3, 3]);
});

it('every read sees what was staged before it', async () => {
  const { staged, asked } = open();
  await put(staged, 1, null);
  await staged.find(1, 'PatientV1', 1);
  await put(staged, 2, null);
  await staged.named(1, 'PatientV1', [1]);
  await staged.highest();
  expect(asked).toEqual([1, 'read', 1, 'read', 'read']);
});

it('nothing is read to find none of no records, and no record is more than none', async () => {
  const { staged, asked } = open();
  expect([...(await staged.named(1, 'PatientV1', []))]).toEqual([]);
  expect(await staged.linkedTo(1, 'PatientV1', [])).toEqual([]);
  expect(asked).toEqual([]);
  expect(await staged.isMoreThan(0)).toBe(false);
  expect(await staged.after({ org: 1, step: 0, seq: 0 }, 5, { from: 0, to: 6 })).toBeUndefined();
});

it('what others depend on is published before them, and files come last', () => {
  const step = (type: string) => stepOf(RECORD_KINDS.get(type) as RecordKind);
  const types = ['TransactionTagV1', 'Location', 'PatientV1', 'Transaction', 'DocumentV1'];
  expect(types.map(step)).toEqual([0, 1, 2, 3, 4]);
});
