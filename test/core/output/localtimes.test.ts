import { expect, it } from 'vitest';
import { list, object } from '../../../src/catalog/fields/composites.ts';
import { text } from '../../../src/catalog/fields/text.ts';
import { dateTime } from '../../../src/catalog/fields/times.ts';
import { readOnly } from '../../../src/catalog/record.ts';
import { columnsOf } from '../../../src/core/output/columns.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { withLocalColumns, withLocalTimes } from '../../../src/core/output/localtimes.ts';

const visit = object<object>({ at: readOnly(dateTime(), 'When'), what: readOnly(text(), 'What') });
const FIELDS = {
  start: readOnly(dateTime(), 'Start'),
  last: readOnly(visit, 'Last visit'),
  visits: readOnly(list(visit), 'Visits'),
};
const AT = '2026-11-24T15:00:30.000Z';
const LOCAL = '2026-11-24T08:00:30-07:00';

it('adds the local time of each instant, also within objects and lists', () => {
  const record = { visits: [{ at: AT, what: AT }, { at: null }, null], last: { at: AT }, start: AT, other: AT };
  const made = withLocalTimes(record, FIELDS, new LocalClock('America/Denver'));
  expect(JSON.stringify(made)).toBe(
    JSON.stringify({
      visits: [{ at: AT, atLocal: LOCAL, what: AT }, { at: null, atLocal: null }, null],
      last: { at: AT, atLocal: LOCAL },
      start: AT,
      startLocal: LOCAL,
      other: AT,
    }),
  );
});

it('adds a column right behind that of each instant', () => {
  const columns = withLocalColumns(columnsOf(FIELDS, ['visits', 'start', 'last.at', 'last']));
  expect(columns.map(({ name, path }) => [name, path.join('/')])).toEqual([
    ['visits', 'visits'],
    ['start', 'start'],
    ['startLocal', 'startLocal'],
    ['last.at', 'last/at'],
    ['last.atLocal', 'last/atLocal'],
    ['last', 'last'],
  ]);
});
