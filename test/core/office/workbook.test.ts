import { strFromU8, unzipSync } from 'fflate';
import readExcel from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import type { OfficeResult } from '../../../src/core/office/result.ts';
import { officeWorkbook } from '../../../src/core/office/workbook.ts';
import { COLLECTIONS, columnsBy, DAY_SHEET, SCHEDULE } from './samples.ts';

function bytesOf(result: OfficeResult): Buffer {
  return Buffer.concat([...officeWorkbook(result)]);
}

async function sheetsOf(result: OfficeResult): Promise<readonly (readonly [name: string, rows: unknown[][]])[]> {
  const sheets = await readExcel(bytesOf(result));
  return sheets.map(({ sheet, data }) => [sheet, data as unknown[][]]);
}

/** A row without the empty cells at its end. */
function filled(row: readonly unknown[]): readonly unknown[] {
  return row.slice(0, row.findLastIndex((cell) => cell !== null) + 1);
}

describe('the workbook of a report', () => {
  it('has title and filters above the rows, local times, exact ids, and totals below', async () => {
    const [[name, rows] = []] = await sheetsOf(SCHEDULE);
    expect(name).toBe('Schedule');
    expect(rows?.map(filled)).toEqual([
      ['Schedule'],
      ['Days: 2026-10-31 to 2026-11-01'],
      ['Locations: <all> & "none"'],
      ['Made 2026-10-31 08:05 (America/Denver).'],
      [
        ...['date', 'start (local time)', 'end (local time)', 'duration (minutes)', 'location.id', 'location.name'],
        ...['patient.id', 'patient.firstName', 'patient.lastName', 'patient.dateOfBirth'],
        ...['phone', 'phone_2', 'phone_3', 'phoneOf.id', 'status', 'note', 'asap', 'id'],
      ],
      [
        new Date('2026-10-31T00:00:00Z'),
        new Date('2026-10-31T23:00:00Z'),
        new Date('2026-11-01T00:30:00Z'),
        ...[90, '5', 'Main Street', '9007199254740993', 'Ana', 'Garcia', new Date('1980-02-29T00:00:00Z')],
        ...['(555) 010-0142', '0155', null, '9007199254740993', 'UNCONFIRMED', '=1+1 <b>bold</b>', true, '1'],
      ],
      [
        new Date('2026-11-01T00:00:00Z'),
        '2026-11-01 01:30 -06:00',
        new Date('2026-11-01T02:30:00Z'),
        ...[120, '5', null, '12', null, null, null, '0177', null, null, '14', 'CONFIRMED', null, false, '2'],
      ],
      [
        new Date('2026-11-01T00:00:00Z'),
        new Date('2026-11-01T09:00:00Z'),
        ...[null, null, '6', ...Array(12).fill(null), '3'],
      ],
      ['Total of 3'],
    ]);
  });

  it('has dollars, and the other totals in a second sheet', async () => {
    const [[, rows] = [], [name, totals] = []] = await sheetsOf(DAY_SHEET);
    expect(rows?.slice(3).map(filled)).toEqual([
      ['id', 'transactionDate', 'ledgerType', 'amount'],
      ['1', new Date('2026-10-31T00:00:00Z'), 'PatientProcedureLedger', 10.1],
      ['2', new Date('2026-10-31T00:00:00Z'), 'PatientProcedureLedger', 20.2],
      ['3', new Date('2026-10-31T00:00:00Z'), 'InsurancePayment', -0.29],
      ['Total of 3', null, null, 30.01],
    ]);
    expect([name, ...(totals ?? [])]).toEqual([
      'Totals',
      ['Day sheet: totals', null, null],
      ['total', 'count', 'amount'],
      ['charges', null, 30.3],
      ['credits', null, -0.29],
      ['InsurancePayment', 1, -0.29],
      ['PatientProcedureLedger', 2, 30.3],
    ]);
  });

  it('says which part is shown, and that the sums agree', async () => {
    const [[, rows] = []] = await sheetsOf(COLLECTIONS);
    expect(rows?.slice(0, 5).map(([cell]) => cell)).toEqual([
      'Collections',
      'Over: 90 days',
      'The first 30 of 40; the totals are of all.',
      "Check: the sum is $449,364.40, as the API's own report says.",
      'Made 2026-10-31 08:05 (America/Denver).',
    ]);
    expect(rows?.at(-1)?.slice(0, 10)).toEqual(['Total of 40', ...Array(7).fill(null), 2, 49_382.4]);
  });

  it('names the one zone of its times, also without rows', async () => {
    const columns = columnsBy({ start: 'instant', amountCents: 'cents' });
    const [[, rows] = []] = await sheetsOf({ ...DAY_SHEET, columns, rows: [], totals: { count: 0, amountCents: 0 } });
    expect(rows?.slice(-2)).toEqual([
      ['start (America/Denver)', 'amount'],
      ['Total of 0', 0],
    ]);
  });

  it('keeps the header in sight, repeats it on paper, and leaves the totals out of its filter', () => {
    const parts = unzipSync(bytesOf(DAY_SHEET));
    const sheet = strFromU8(parts['xl/worksheets/sheet1.xml'] ?? new Uint8Array());
    expect(sheet).toContain('<pane ySplit="4" topLeftCell="A5" activePane="bottomLeft" state="frozen"/>');
    expect(sheet).toContain('<autoFilter ref="A4:D7"/>');
    expect(sheet).toContain('orientation="landscape" fitToWidth="1"');
    expect(strFromU8(parts['xl/workbook.xml'] ?? new Uint8Array())).toContain(">'Day sheet'!$4:$4<");
  });
});
