import { expect, it } from 'vitest';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { ImportedIds } from '../../../src/server/import/ids.ts';
import { noted } from '../store/noted.ts';

const { type } = patients;

it('ids above all before them are new where there was nothing', async () => {
  const { tx } = noted();
  const ids = new ImportedIds(tx);
  const fresh: boolean[] = [];
  for (const id of [5, 9, 9, 7, 10]) fresh.push(await ids.note(1, type, id, patients));
  expect(fresh).toEqual([true, true, false, false, true]);
  expect(await ids.note(2, type, 1, patients)).toBe(true);
  expect(await ids.had(1, patients)).toBe(false);
  expect(ids.begun(type)).toEqual([1, 2]);
});

it('no id is new where there were records, or in kinds that have no table', async () => {
  const { tx } = noted(() => ({ found: 1 }));
  const ids = new ImportedIds(tx);
  expect(await ids.note(1, type, 5, patients)).toBe(false);
  expect(await ids.note(1, 'Location', 5)).toBe(false);
  expect(await ids.had(1, patients)).toBe(true);
  expect(ids.begun(type)).toEqual([]);
});

it('the highest id of each kind is kept from being given again', async () => {
  const { tx, runs } = noted();
  const ids = new ImportedIds(tx);
  for (const id of [5, 9, 7]) await ids.note(1, type, id, patients);
  await ids.note(2, 'Location', 3);
  await ids.settle();
  expect(runs.map(({ values }) => values)).toEqual([
    [1, type, 9],
    [2, 'Location', 3],
  ]);
});
