import { describe, expect, it } from 'vitest';
import { officeHtml } from '../../../src/core/office/html.ts';
import { COLLECTIONS, columnsBy, DAY_SHEET, SCHEDULE } from './samples.ts';

/** The tables of a page, as cells of text. */
function tablesOf(page: string): string[][][] {
  return [...page.matchAll(/<table>(.*?)<\/table>/gs)].map(([, table = '']) =>
    [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
    ),
  );
}

describe('the page of a report', () => {
  it('has names beside their ids, local times, and whose phones they are', () => {
    expect(tablesOf(officeHtml(SCHEDULE))).toEqual([
      [
        [
          ...['date', 'start', 'end', 'duration (min)', 'location', 'patient', 'date of birth'],
          ...['phones', 'status', 'note', 'asap', 'id'],
        ],
        [
          ...['2026-10-31', '23:00', '2026-11-01 00:30', '90', 'Main Street (5)', 'Garcia, Ana (9007199254740993)'],
          ...['1980-02-29', '(555) 010-0142\n0155', 'UNCONFIRMED', '=1+1 &lt;b&gt;bold&lt;/b&gt;', 'yes', '1'],
        ],
        ['2026-11-01', '01:30 -06:00', '02:30', '120', '5', '12', '', '0177\n(of 14)', 'CONFIRMED', '', 'no', '2'],
        ['2026-11-01', '09:00', '', '', '6', '', '', '', '', '', '', '3'],
        ['Total of 3', ...Array(11).fill('')],
      ],
    ]);
  });

  it('tells what was asked for, and nothing of money where there is none', () => {
    const page = officeHtml(SCHEDULE);
    expect([...page.matchAll(/<p>(.*?)<\/p>/g)].map(([, text]) => text)).toEqual([
      'Days: 2026-10-31 to 2026-11-01',
      'Locations: &lt;all&gt; &amp; &quot;none&quot;',
      'Made 2026-10-31 08:05 (America/Denver).',
    ]);
    expect(page).toContain('<dt>patients</dt><dd>2</dd>');
  });

  it('has totals of all rows, whatever part it shows', () => {
    const page = officeHtml(COLLECTIONS);
    const [table] = tablesOf(page);
    expect(table?.at(-1)?.slice(0, 6)).toEqual(['Total of 40', '', '', '2.00', '49,382.40', '0.00']);
    expect(page).toContain('<p>The first 30 of 40; the totals are of all.</p>');
    expect(page).toContain('Amounts in US dollars.');
    expect(page).toContain('<dt>overdue</dt><dd>$400,000.00</dd>');
  });

  it('has the totals by ledger type', () => {
    expect(tablesOf(officeHtml(DAY_SHEET))[1]).toEqual([
      ['ledger type', 'rows', 'amount'],
      ['InsurancePayment', '1', '-0.29'],
      ['PatientProcedureLedger', '2', '30.30'],
    ]);
  });

  it('shows columns that were chosen, and says when there are no rows', () => {
    const columns = columnsBy({ 'patient.lastName': 'text', phone_2: 'text', 'appointment.id': 'id' });
    const [table] = tablesOf(officeHtml({ ...SCHEDULE, columns }));
    expect(table?.slice(0, 2)).toEqual([
      ['last name', 'phone 2', 'appointment'],
      ['Garcia', '0155', ''],
    ]);
    expect(officeHtml({ ...SCHEDULE, rows: [], totals: { count: 0 } })).toContain('<p>There are none.</p>');
  });

  it('has its label below a column of words, also where money comes first, and only sums where all is money', () => {
    const totals = { count: 3, amountCents: 123_456, balanceCents: -5 };
    const footOf = (kinds: Parameters<typeof columnsBy>[0]) =>
      tablesOf(officeHtml({ ...DAY_SHEET, columns: columnsBy(kinds), totals }))[0]?.at(-1);
    expect(footOf({ amountCents: 'cents', note: 'text', balanceCents: 'cents' })).toEqual([
      '1,234.56',
      'Total of 3',
      '-0.05',
    ]);
    expect(footOf({ amountCents: 'cents', balanceCents: 'cents' })).toEqual(['1,234.56', '-0.05']);
  });

  it('leaves out labels of days that would not fit below their bars', () => {
    const of = Array.from({ length: 31 }, (_, at) => ({ label: `11-${String(at + 1).padStart(2, '0')}`, cents: at }));
    const page = officeHtml({ ...DAY_SHEET, picture: { title: 'By day', bars: 'columns', of } });
    const labels = [...page.matchAll(/>(11-\d\d)</g)].map(([, label]) => label);
    expect(labels).toEqual(['11-01', '11-05', '11-09', '11-13', '11-17', '11-21', '11-25', '11-29']);
  });
});
