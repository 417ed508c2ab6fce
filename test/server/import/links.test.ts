import sql from 'sql-template-tag';
import { expect, it } from 'vitest';
import { LinkBook } from '../../../src/server/import/links.ts';
import type { Statement } from '../../../src/server/store/store.ts';

/** A book of links where a few records exist, which of them it has looked for, and the values of its statements. */
function open(...existing: number[]) {
  const looks: number[] = [];
  const stored: unknown[][] = [];
  const none = () => Promise.reject(new Error('not asked'));
  const run = async ({ values }: Statement) => stored.push([...values]);
  const book = new LinkBook({ all: none, get: none, run, queue: none }, 'the-import', {
    existing: async (_org, _target, ids) => {
      looks.push(...ids);
      return new Set(ids.filter((id) => existing.includes(id)));
    },
    whereExists: () => sql`EXISTS (SELECT 1)`,
    recordsOf: async function* () {},
  });
  const note = (id: number, target = 'Location', org = 1) => book.note(org, 7, [{ target, id, at: 'field' }]);
  return { book, looks, stored, note };
}

const place = (id: number) => [{ target: 'Location', id, at: 'field' }];

it('a record that many link to is looked for once, and so is one that there is not, until a line is about it', async () => {
  const { book, looks, note } = open(5);
  for (const id of [5, 6, 5, 6]) await note(id);
  expect(looks).toEqual([5, 6]);
  expect([book.allExist(1, place(5)), book.allExist(1, place(6)), book.allExist(1, [])]).toEqual([true, false, true]);
  expect(book.allExist(1, [...place(5), ...place(6)])).toBe(false);
  book.noteWritten(1, 'Location', 6);
  expect(book.allExist(1, [...place(5), ...place(6)])).toBe(true);
  await note(6);
  expect(looks).toEqual([5, 6]);
  await note(5, 'Provider');
  await note(5, 'Location', 2);
  expect(looks).toEqual([5, 6, 5, 5]);
});

it('50,000 records are remembered at most, of those that there are and of those that there are not', async () => {
  const { book, looks, note } = open();
  for (let id = 1; id <= 50_000; id++) await note(id);
  await note(1);
  expect(looks).toHaveLength(50_000);
  await note(50_001);
  await note(1);
  expect(looks.slice(50_000)).toEqual([50_001, 1]);
  for (let id = 1; id <= 50_000; id++) book.noteWritten(1, 'Provider', id);
  const first = [{ target: 'Provider', id: 1, at: 'field' }];
  expect(book.allExist(1, first)).toBe(true);
  book.noteWritten(1, 'Provider', 50_001);
  expect(book.allExist(1, first)).toBe(false);
});

it('links are stored fifty at a time, each with its place, and the rest when they are asked for', async () => {
  const { book, looks, stored, note } = open();
  for (let id = 1; id <= 49; id++) await note(id, 'PatientV1');
  expect(stored).toEqual([]);
  await note(50, 'PatientV1');
  await note(51, 'PatientV1');
  await note(52);
  expect(stored).toHaveLength(1);
  await book.flush();
  await book.flush();
  const links = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => [1, from + n, 7, 'field.id']).flat();
  expect(stored).toEqual([
    [...links(1, 50), 'the-import', 'PatientV1'],
    [...links(51, 51), 'the-import', 'PatientV1'],
    [...links(52, 52), 'the-import', 'Location'],
  ]);
  // What has lists of its own is found by the statement itself.
  expect(looks).toEqual([52]);
});

it('a record that was deleted is linked to no more, until it is written again', async () => {
  const { book, stored, note } = open();
  book.noteWritten(1, 'PatientV1', 5);
  await note(5, 'PatientV1');
  await book.flush();
  expect(stored).toEqual([]);
  book.noteDeleted(1, 'PatientV1', 5, 8);
  await note(5, 'PatientV1');
  await book.flush();
  expect(stored).toHaveLength(1);
  book.noteWritten(1, 'PatientV1', 5);
  await note(5, 'PatientV1');
  await book.flush();
  expect(stored).toHaveLength(1);
});
