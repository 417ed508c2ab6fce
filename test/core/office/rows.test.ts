import { describe, expect, it } from 'vitest';
import { withLocalTimes } from '../../../src/core/office/localtimes.ts';
import { nestedRow } from '../../../src/core/office/nested.ts';
import type { OfficeColumn } from '../../../src/core/office/report.ts';
import { inOrder } from '../../../src/core/office/roworder.ts';
import { RowReader } from '../../../src/core/office/rowreader.ts';
import { totalsOf } from '../../../src/core/office/totals.ts';
import { exactJson } from '../../../src/core/output/json.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';

const COLUMNS: readonly OfficeColumn[] = [
  { name: 'location.id', kind: 'id' },
  { name: 'location.name', kind: 'text' },
  { name: 'start', kind: 'instant' },
  { name: 'amountCents', kind: 'cents' },
  { name: 'isAutomaticallyPosted', kind: 'boolean' },
  { name: 'id', kind: 'id' },
];
const SQL = ['id', 'is_automatically_posted', 'amount_cents', 'start', 'location_id'];

describe('rows of a statement', () => {
  it('keep ids beyond 2^53 from SQL to JSON, and truth values become such', () => {
    const reader = new RowReader(COLUMNS, SQL, (kind, id) => (id === '9007199254740995' ? `${kind} one` : undefined));
    const start = '2026-03-08T10:30:00.000Z';
    const rows = [
      reader.read([9007199254740993n, 1, -250, start, 9007199254740995n]),
      reader.read([9007199254740993n, 0, null, null, null]),
    ];
    expect(rows.map((row) => exactJson(nestedRow(row, COLUMNS)))).toEqual([
      `{"location":{"id":9007199254740995,"name":"location one"},"start":"${start}","amountCents":-250,"isAutomaticallyPosted":true,"id":9007199254740993}`,
      '{"location":{"id":null,"name":null},"start":null,"amountCents":null,"isAutomaticallyPosted":false,"id":9007199254740993}',
    ]);
    expect(() => new RowReader([{ name: 'nextVisit', kind: 'instant' }], SQL, () => undefined)).toThrow('next_visit');
  });

  it('have the local time behind each instant, with the offset that holds then', () => {
    const clock = new LocalClock('America/Denver');
    const rows = ['2026-11-01T07:30:00.000Z', '2026-11-01T08:30:00.000Z', null].map((start) => ({ start }));
    const local = withLocalTimes(COLUMNS.slice(2, 4), rows, () => clock);
    expect(local.columns.map(({ name }) => name)).toEqual(['start', 'startLocal', 'amountCents']);
    expect(local.rows.map(({ startLocal }) => startLocal)).toEqual([
      '2026-11-01T01:30:00-06:00',
      '2026-11-01T01:30:00-07:00',
      null,
    ]);
  });
});

describe('the order of rows', () => {
  const row = (location: number | null, amountCents: number | null, id: number) => ({
    'location.id': location,
    amountCents,
    id,
  });
  const rows = [row(30, 1, 1), row(4, 1, 2), row(null, 1, 3), row(5, 1, 4), row(30, 0, 6), row(30, 0, 5)];

  it('has locations by their place in the names file, then by id; no value last, ties by id', () => {
    const places: Readonly<Record<string, number>> = { '30': 1 };
    const sorted = inOrder(rows, ['location.id', 'amountCents'], COLUMNS, (_, id) => places[id]);
    expect(sorted.map(({ id }) => id)).toEqual([5, 6, 1, 2, 4, 3]);
    expect(inOrder(rows, ['-amountCents'], COLUMNS, () => undefined).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('breaks ties by the patient where rows have no id of their own', () => {
    const columns: readonly OfficeColumn[] = [
      { name: 'patient.id', kind: 'id' },
      { name: 'documents', kind: 'count' },
    ];
    const patients = [10, 9, 100].map((id) => ({ 'patient.id': id, documents: 0 }));
    const sorted = inOrder(patients, ['-documents'], columns, () => undefined);
    expect(sorted.map((each) => each['patient.id'])).toEqual([9, 10, 100]);
  });
});

describe('totals', () => {
  it('leave out what is void, which still counts', () => {
    const columns: readonly OfficeColumn[] = [
      { name: 'amountCents', kind: 'cents' },
      { name: 'amountBeforeCents', kind: 'cents' },
    ];
    const rows = [
      { amountCents: 100, change: null },
      { amountCents: -30, change: 'changed', amountBeforeCents: -20 },
      { amountCents: 1000, change: 'cancelled' },
      { amountCents: 2000, change: 'vanished', amountBeforeCents: 5 },
    ];
    expect(totalsOf('adjustments', columns, rows)).toEqual({ count: 4, amountCents: 70, amountBeforeCents: -20 });
  });
});
