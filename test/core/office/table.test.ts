import { describe, expect, it } from 'vitest';
import type { OfficeColumn } from '../../../src/core/office/report.ts';
import type { OfficeResult } from '../../../src/core/office/result.ts';
import { officeTable } from '../../../src/core/office/table.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { PLAIN } from '../../../src/core/output/style.ts';

const CLOCKS: Readonly<Record<string, LocalClock>> = {
  '5': new LocalClock('America/Denver'),
  '6': new LocalClock('America/New_York'),
};

const COLUMNS: readonly OfficeColumn[] = [
  { name: 'date', kind: 'date' },
  { name: 'start', kind: 'instant' },
  { name: 'location.id', kind: 'id' },
  { name: 'location.name', kind: 'text' },
  { name: 'patient.id', kind: 'id' },
  { name: 'patient.firstName', kind: 'text' },
  { name: 'patient.lastName', kind: 'text' },
  { name: 'amountCents', kind: 'cents' },
  { name: 'note', kind: 'text' },
];

const rows = [
  {
    ...{ date: '2026-11-24', start: '2026-11-24T15:00:00.000Z', 'location.id': 5, 'location.name': 'Main Street' },
    ...{ 'patient.id': 7000000000018, 'patient.firstName': 'Ann', 'patient.lastName': 'Alder', amountCents: 123456 },
    note: null,
  },
  {
    ...{ date: '2026-11-24', start: '2026-11-24T15:30:00.000Z', 'location.id': 6, 'location.name': null },
    ...{ 'patient.id': 7000000000019, 'patient.firstName': 'Bob', 'patient.lastName': 'Birch', amountCents: -5 },
    note: '\u001b[31mred',
  },
];

const RESULT: OfficeResult = {
  title: 'Day sheet',
  filters: [{ label: 'Date', text: '2026-11-24 Tue' }],
  columns: COLUMNS,
  rows,
  totals: {
    count: 3,
    amountCents: 123460,
    patients: 2,
    chargesCents: 123465,
    byLedgerType: { Fee: { count: 3, amountCents: 123460 } },
  },
  check: null,
  made: { at: 0, clock: CLOCKS['5'] as LocalClock },
  clockOf: (row) => CLOCKS[String(row['location.id'])] as LocalClock,
};

const look = { header: true, style: PLAIN, many: 'ledger rows', isChosen: false };

describe('a report on a terminal', () => {
  it('has local times, dollars, names, and totals of all rows', () => {
    const { text, hidden } = officeTable(RESULT, { ...look, width: 100 });
    expect(text.replace(/ +$/gm, '')).toBe(`Day sheet
Date: 2026-11-24 Tue
The first 2 of 3; the totals are of all.

start  location.id  location     patient.id     patient       amount  note
─────  ───────────  ───────────  ─────────────  ──────────  ────────  ────────
08:00  5            Main Street  7000000000018  Alder, Ann  1,234.56
10:30  6            6            7000000000019  Birch, Bob     -0.05  �[31mred
Total                                                       1,234.60

3 ledger rows, 2 patients, charges $1,234.65
  Fee: 3, $1,234.60
`);
    expect(hidden).toEqual([]);
  });

  it('drops what matters least where the terminal is narrow, and never half an id', () => {
    const { text, hidden } = officeTable(RESULT, { ...look, width: 40 });
    expect(hidden).toEqual(['location.id', 'patient.id', 'note']);
    expect(text).toContain('start  location     patient       amount\n');
    const unnamed = {
      ...RESULT,
      rows: rows.map((row) => ({ ...row, 'location.id': 1000000000001, 'location.name': null })),
    };
    const narrow = officeTable({ ...unnamed, clockOf: () => CLOCKS['5'] as LocalClock }, { ...look, width: 60 });
    expect(narrow.text).toContain('1000000000001');
    expect(narrow.text).not.toContain('…');
  });

  it('shows chosen columns as they are, and no table where there are no rows', () => {
    const chosen = COLUMNS.filter(({ name }) => name === 'patient.lastName' || name === 'start');
    const { text } = officeTable({ ...RESULT, columns: chosen }, { ...look, width: 80, isChosen: true });
    expect(text).toContain('start             patient.lastName\n');
    expect(text).toContain('2026-11-24 08:00  Alder\n');
    const none = { ...RESULT, rows: [], totals: { count: 0, amountCents: 0 } };
    expect(officeTable(none, { ...look, width: 80 }).text).toBe('Day sheet\nDate: 2026-11-24 Tue\n\n0 ledger rows\n');
  });

  it('says yes of what is so, and nothing of what is not', () => {
    const columns: readonly OfficeColumn[] = [
      { name: 'id', kind: 'id' },
      { name: 'asap', kind: 'boolean' },
    ];
    const facts = [true, false, null].map((asap, id) => ({ id, asap, 'location.id': 5 }));
    const { text } = officeTable(
      { ...RESULT, columns, rows: facts, totals: { count: 3 } },
      { ...look, width: 80, header: false, isChosen: true },
    );
    expect(text).toBe('0   yes\n1\n2\n\n3 ledger rows\n');
  });
});
