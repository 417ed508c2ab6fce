import { stripVTControlCharacters } from 'node:util';
import CliTable from 'cli-table3';
import { describe, expect, it } from 'vitest';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';
import { recordTable } from '../../../src/core/output/record.ts';
import { COLOURED } from '../../../src/core/output/style.ts';

const clock = new LocalClock('America/Denver');

describe('recordTable', () => {
  it('has local times', () => {
    const record = { id: 5, lastModified: '2026-11-24T15:00:09.123Z' };
    const text = recordTable(CliTable, record, patientFields, { clock, width: 80 });
    expect(text).toBe('id            5\nlastModified  2026-11-24 08:00:09\n');
  });

  it('has a line for each field, in their order', () => {
    const record = { lastName: 'Example', id: 5, title: null, preferredLocation: { id: 7 } };
    expect(recordTable(CliTable, record, patientFields, { clock, width: 80 })).toBe(
      ['id                    5', 'lastName              Example', 'title', 'preferredLocation.id  7', ''].join('\n'),
    );
  });

  it('has an entry of a list on each line, and fields that are new last', () => {
    const phones = [
      { id: 1, phoneType: 'HOME', number: '555-0100', extension: null },
      { id: 2, phoneType: 'WORK', number: '555-0101', extension: '7' },
    ];
    const record = { id: 5, phones, referredPatients: [{ id: 3 }, { id: 4 }], 'new\u001b': 'x\u001b' };
    expect(recordTable(CliTable, record, patientFields, { clock, width: 80 }).split('\n')).toEqual([
      'id                5',
      'phones            id 1, phoneType HOME, number 555-0100',
      '                  id 2, phoneType WORK, number 555-0101, extension 7',
      'referredPatients  3',
      '                  4',
      'new\ufffd              x\ufffd',
      '',
    ]);
  });

  it('wraps what is too long', () => {
    const text = recordTable(CliTable, { id: 5, address1: 'x'.repeat(50) }, patientFields, { clock, width: 40 });
    expect(text.replace(/\s/g, '')).toBe(`id5address1${'x'.repeat(50)}`);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it('wraps between words where it can, below the value', () => {
    const note = 'Called twice about the crown, wants the early slot';
    expect(recordTable(CliTable, { id: 5, address1: note }, patientFields, { clock, width: 40 })).toBe(
      'id        5\naddress1  Called twice about the crown,\n          wants the early slot\n',
    );
  });

  it('has names that stand out where there are colours', () => {
    const text = recordTable(CliTable, { id: 5 }, patientFields, { clock, width: 80, style: COLOURED });
    expect(text).toBe('\u001b[1mid\u001b[22m  5\n');
  });

  it('lines values up beside names of any length, with colours too', () => {
    const record = { id: 5, lastName: 'X' };
    const coloured = recordTable(CliTable, record, patientFields, { clock, width: 80, style: COLOURED });
    expect(stripVTControlCharacters(coloured)).toBe(recordTable(CliTable, record, patientFields, { clock, width: 80 }));
  });

  it('shows the selection only', () => {
    const text = recordTable(CliTable, { id: 5, lastName: 'X' }, patientFields, {
      clock,
      width: 80,
      selection: ['lastName'],
    });
    expect(text).toBe('lastName  X\n');
  });

  it('takes a text of thousands of lines, each beside the name column', () => {
    const words = (count: number) => Array.from({ length: count }, () => 'ab').join(' ');
    const text = recordTable(CliTable, { id: 5, new: words(10_000) }, patientFields, { clock, width: 25 });
    // Seven words in twenty columns: 1428 lines of them, and four words are left.
    expect(text.split('\n')).toEqual([
      'id   5',
      `new  ${words(7)}`,
      ...Array.from({ length: 1427 }, () => `     ${words(7)}`),
      `     ${words(4)}`,
      '',
    ]);
  });
});
