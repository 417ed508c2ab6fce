import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Deidentifier } from '../../../src/core/mirror/deidentify/deidentifier.ts';
import { deidentifiedTable } from '../../../src/core/mirror/deidentify/tables.ts';
import { TREATMENTS, treatmentOf } from '../../../src/core/mirror/deidentify/treatments.ts';
import { recordOf } from '../../../src/core/mirror/records.ts';
import { findTable, MIRROR_TABLES, type MirrorColumn, type MirrorTable } from '../../../src/core/mirror/tables.ts';

const now = () => Date.parse('2026-11-23T12:00:00Z');

function kept(resource: string, record: object): Record<string, unknown> {
  const deidentifier = new Deidentifier(Buffer.alloc(32, 7), now);
  const { text } = deidentifier.record(findTable(resource) as MirrorTable, recordOf(JSON.stringify(record)));
  return JSON.parse(text);
}

describe('what a de-identified copy keeps', () => {
  it('is decided for every field of the catalog, once, and for no other', () => {
    for (const table of MIRROR_TABLES) {
      const columns = [...table.columns, ...table.children.flatMap((child) => child.columns)];
      const decided = Object.values(TREATMENTS[table.resource.name] ?? {}).flat();
      expect(decided.toSorted(), table.name).toEqual(columns.map(({ field }) => field).toSorted());
      // Whatever is an id is no original any more, and free text is not kept by its type alone.
      for (const column of columns) {
        const treatment = treatmentOf(table, column);
        if (column.isLink || column.name === 'id') expect(treatment, column.name).toMatch(/^(pseudonym|gone)$/);
        if (column.type === 'date' || column.type === 'instant')
          expect(treatment, column.name).toMatch(/^(year|birthYear)$/);
      }
    }
    expect(Object.keys(TREATMENTS).toSorted()).toEqual(MIRROR_TABLES.map(({ resource }) => resource.name).toSorted());
  });

  it('is told field by field in the documentation', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/mirror.md'), 'utf8');
    const told = [...page.matchAll(/^\| `(\w+)` \| ([\w ]+) \| (`.*`) \|$/gm)].map(
      ([, resource, what, fields = '']) => [
        resource,
        what,
        fields.split(', ').map((field) => field.replaceAll('`', '')),
      ],
    );
    const WORDS: Readonly<Record<string, string>> = {
      pseudonym: 'pseudonym',
      group: 'pseudonym as text',
      year: 'year',
      birthYear: 'year of birth',
      postalCode: 'three digits',
      kept: 'as it is',
      gone: 'nothing',
    };
    const decided = Object.entries(TREATMENTS).flatMap(([resource, by]) =>
      Object.entries(by).map(([treatment, fields]) => [resource, WORDS[treatment], fields]),
    );
    expect(told).toEqual(decided);
  });

  it('is nothing of a column of which nothing is decided', () => {
    const [column, ...columns] = (findTable('patients') as MirrorTable).columns;
    const added = { ...column, name: 'blood_type', field: 'bloodType', about: 'Blood type' } as MirrorColumn;
    const table = { ...(findTable('patients') as MirrorTable), columns: [...columns, added] };
    expect(deidentifiedTable(table).columns.at(-1)).toEqual({ ...added, about: 'Blood type; left out' });
  });

  it('is nothing of what no field declares, and nothing that does not have the form of its field', () => {
    const record = {
      id: 5,
      ssn: '078-05-1120',
      gender: 'Ann Miller, 303 555 0100',
      patientStatus: 'ACTIVE',
      contactMethod: 'Call me',
      state: '3035550100',
      familySize: 'Ann and Ben',
      income: { note: 'Ann' },
      dateOfBirth: 'born in May 1950',
      postalCode: 'K1A 0B1',
      preferredLocation: { id: 'Main Street' },
      phones: [{ id: 3, phoneType: 'HOME', number: '303 555 0100', owner: 'Ann' }],
      referredPatients: [{ id: 9, name: 'Ben' }],
      lastModified: 1_700_000_000,
    };
    expect(kept('patients', record)).toEqual({
      id: expect.any(Number),
      gender: null,
      patientStatus: 'ACTIVE',
      contactMethod: 'Call me',
      state: null,
      familySize: null,
      income: null,
      dateOfBirth: null,
      postalCode: '000',
      preferredLocation: { id: null },
      phones: [],
      referredPatients: [{ id: expect.any(Number) }],
      lastModified: null,
    });
    const charge = { id: 6, isActive: 'Ann', transactionTags: { Ann: { id: 7 }, 2: { id: 8, text: 'Ann' } } };
    expect(JSON.stringify(kept('transactions', charge))).not.toContain('"Ann"');
    for (const nobody of [{ id: 'Ann' }, { id: null }, { lastName: 'Miller' }])
      expect(() => kept('patients', nobody)).toThrow('has an id that is no whole number');
  });

  it.each([
    ['1936-12-31', null],
    ['1937-01-01', '1937'],
    ['2026-11-23T10:00:00Z', '2026'],
  ])('of the birth on %s is the year %s', (dateOfBirth, year) => {
    expect(kept('patients', { id: 1, dateOfBirth }).dateOfBirth).toBe(year);
  });

  it.each([
    ['appointments', 'lastModified', 'since 2026-01-05', null],
    ['appointments', 'start', '2026-01-05T08:00:00', '2026'],
    ['appointments', 'start', '1926-01-05T08:00:00', '1926'],
    ['patients', 'postalCode', null, null],
    ['appointments', 'status', 'A.NEW_STATUS/2', 'A.NEW_STATUS/2'],
    ['appointments', 'status', ['SCHEDULED'], null],
    ['appointments', 'duration', 30, 30],
    ['appointments', 'duration', 1e21, 1e21],
    ['appointments', 'duration', '30.5', '30.5'],
    ['appointments', 'duration', '3035550100123', null],
    ['patients', 'contactMethod', 'Call me', 'Call me'],
    ['patients', 'contactMethod', 'Call Ann', null],
    ['patients', 'dateOfBirth', 'born 1950-01-01', null],
    ['events', 'color', 'ff00ff', 'ff00ff'],
    ['events', 'color', '303555', '303555'],
    ['events', 'color', '3035550', null],
  ])('of %s %s %j is %j', (resource, field, value, expected) => {
    expect(kept(resource, { id: 1, [field]: value })[field]).toEqual(expected);
  });

  it.each([
    ['80202', '802'],
    ['80202-1234', '802'],
    // Areas of few people, as HHS lists them.
    ...'036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893'
      .split(' ')
      .map((area) => [`${area}90`, '000']),
    ['8020', '000'],
    ['802021234', '802'],
    [' 80202 ', '802'],
    ['80202-12', '000'],
    ['x80202', '000'],
  ])('of the postal code %s is %s', (postalCode, area) => {
    expect(kept('patients', { id: 1, postalCode }).postalCode).toBe(area);
  });
});
