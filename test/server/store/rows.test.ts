import { expect, it } from 'vitest';
import { RowBuffer } from '../../../src/server/store/rows.ts';
import { noted } from './noted.ts';

it('writes rows many at a time, in their order, and the last ones when it is told to', async () => {
  const { tx, runs } = noted();
  const rows = new RowBuffer(tx, 'INSERT INTO t (a, b)', 2);
  for (let index = 0; index < 120; index++) await rows.add([index, 'x']);
  expect(runs.map(({ values }) => values.length)).toEqual([100, 100]);
  await rows.flush();
  expect(runs.map(({ values }) => values.length)).toEqual([100, 100, 40]);
  expect(runs.flatMap(({ values }) => values).filter((value) => value !== 'x')).toEqual([...Array(120).keys()]);
  expect(runs.at(-1)?.sql.split('?').length).toBe(41);
});

it('writes nothing when nothing waits', async () => {
  const { tx, runs } = noted();
  const rows = new RowBuffer(tx, 'INSERT INTO t (a)', 1);
  await rows.flush();
  await rows.add([1]);
  await rows.flush();
  await rows.flush();
  expect(runs.map(({ values }) => values)).toEqual([[1]]);
});
