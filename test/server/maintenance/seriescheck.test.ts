import { expect, it } from 'vitest';
import { checkSeries } from '../../../src/server/maintenance/check/series.ts';
import { foundIn } from './barechecks.ts';

const RULE = {
  recurrenceType: 'MONTHLY',
  recurrenceStart: '2026-03-02',
  recurrenceEnd: '2026-12-31',
  recurrenceFrequency: 2,
  recurrenceDays: ['MONDAY'],
  recurrenceWeek: 'FIRST',
  recurrenceDay: 3,
};

/** Occurrences of three series in turn, by their ids, more than are read at once; each series has a frequency of its own. */
const EVENTS = Array.from({ length: 1210 }, (_, index) => {
  const group = ['c', 'b', 'a'][index % 3] as string;
  return { org: 1, id: index + 1, group, rule: { ...RULE, recurrenceFrequency: 'abc'.indexOf(group) + 1 } };
});

/** The name of a group is one of its organization; what is in none has the recurrence that it has. */
const OTHERS = [
  { org: 2, id: 1, group: 'c', rule: { ...RULE, recurrenceFrequency: 9 } },
  { org: 2, id: 2, group: 'c', rule: { ...RULE, recurrenceFrequency: 9 } },
  { org: 1, id: 2001, group: null, rule: RULE },
  { org: 1, id: 2002, group: null, rule: {} },
];

function check(changed: ReadonlyMap<number, object> = new Map()): Promise<string[]> {
  const rows = [...EVENTS, ...OTHERS].map(({ org, id, group, rule }) => {
    const json = JSON.stringify({ title: `Event ${id}`, ...rule, ...(org === 1 && changed.get(id)) });
    return `(${org}, ${id}, ${group === null ? 'NULL' : `'${group}'`}, '${json}')`;
  });
  return foundIn(
    `CREATE TABLE events (org, id, group_id, json); INSERT INTO events VALUES ${rows.join()}`,
    checkSeries,
  );
}

const told = (id: number) => `1 events ${id}: has another recurrence than the first of its group`;

it('finds no fault with series whose occurrences lie among each other', async () => {
  expect(await check()).toEqual([]);
});

it.each(Object.keys(RULE))(
  'finds occurrences with another %s than the first of their series, on any page',
  async (name) => {
    // Two in a row, the first ones on the second and the third page, and the last of its series.
    const ids = [6, 9, 293, 1208, 583];
    expect(await check(new Map(ids.map((id) => [id, { [name]: 'another' }])))).toEqual(ids.map(told));
  },
);
