import { describe, expect, it } from 'vitest';
import { allOperations, operationOf, RESOURCES } from '../../../src/catalog/catalog.ts';
import { Refusal } from '../../../src/catalog/failures.ts';
import { documents } from '../../../src/catalog/resources/documents.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { exampleTerm, filterFlags, quotedWarning, readFilter } from '../../../src/cli/flags/filters.ts';
import type { FlagValues } from '../../../src/cli/flags/values.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';

const { filters } = patients;

function resourceNamed(name: string) {
  const found = RESOURCES.find((resource) => resource.name === name);
  if (found === undefined) throw new Error(`There is no resource ${name}`);
  return found;
}

function refusalOf(flags: FlagValues, keys = filters): Refusal {
  try {
    readFilter(flags, keys);
  } catch (cause) {
    if (cause instanceof Refusal) return cause;
    throw cause;
  }
  throw new Error('Nothing was refused');
}

describe('filterFlags', () => {
  it('has a flag for each shortcut of the catalog', () => {
    expect(Object.keys(filterFlags(documents.filters)).toSorted()).toEqual([
      'filter',
      'owner-organization',
      'patient',
      'perio-exam',
      'tag',
    ]);
  });

  it('can be repeated where the operator takes a list', () => {
    const flags = filterFlags(filters);
    const repeatable = Object.entries(flags).filter(([, flag]) => 'multiple' in flag && flag.multiple);
    expect(repeatable.map(([name]) => name).toSorted()).toEqual(['filter', 'id', 'location']);
  });

  it('lists keys and operators in its help', () => {
    expect(filterFlags(filters).filter?.description).toContain('chartNumber  == .absent .present');
  });
});

describe('exampleTerm', () => {
  const filtered = allOperations().filter(({ operation }) => operation.filters !== undefined);

  it.each(filtered.map(({ operation }) => [operation.id, operation] as const))(
    'is one that %s takes',
    (_id, operation) => {
      const keys = operation.filters ?? {};
      const optional = Object.fromEntries(
        Object.entries(keys).map(([name, key]) => [name, { ...key, required: false }]),
      );
      const term = exampleTerm(keys);
      expect(term).toMatch(/^[\w.,=-]+$/);
      expect(readFilter({ filter: [term] }, optional)).toBeDefined();
      expect(filterFlags(keys).filter?.summary).toContain(`such as ${term};`);
    },
  );
});

describe('quotedWarning', () => {
  it.each([undefined, '', 'lastName==Lee', 'chartNumber.absent', 'tags->["a, b"]'])(
    'has nothing to say of %s',
    (filter) => {
      expect(quotedWarning(filter)).toBeUndefined();
    },
  );

  it('names each key once, and no value', () => {
    const text = quotedWarning('lastName~="Lee, Jr",id->[5],lastName~="Li, Jr",title==" a"') ?? '';
    expect(text).toContain('a value of lastName~=, title== can only be sent in double quotes');
    expect(text).not.toMatch(/Lee|Li/);
  });
});

describe('readFilter', () => {
  it.each<[string, FlagValues, string | undefined]>([
    ['nothing', {}, undefined],
    ['a term', { filter: ['lastName~=Sm'] }, 'lastName~=Sm'],
    ['several', { filter: ['lastName~=Sm', 'patientStatus==ACTIVE'] }, 'lastName~=Sm,patientStatus==ACTIVE'],
    ['several in one', { filter: ['lastName~=Sm, gender==F'] }, 'lastName~=Sm,gender==F'],
    ['shortcuts', { status: 'ACTIVE', 'last-name': 'Sm' }, 'lastName~=Sm,patientStatus==ACTIVE'],
    ['a list once', { location: ['5'] }, 'preferredLocation.id->[5]'],
    ['a list with commas and repeated', { location: ['5,6', ' 7 '] }, 'preferredLocation.id->[5,6,7]'],
    ['all locations', { location: ['ALL'] }, 'preferredLocation.id->[ALL]'],
    ['values that need quotes', { 'last-name': 'O, "Neil"' }, 'lastName~="O, \\"Neil\\""'],
    ['a value that looks like an operator', { 'first-name': '=x' }, 'firstName~="=x"'],
    ['a date through which', { to: '2026-01-31' }, 'firstVisitDate<2026-02-01T07:00:00Z'],
    ['the last day of a leap February', { to: '2024-02-29' }, 'firstVisitDate<2024-03-01T07:00:00Z'],
    ['the last day of a year', { to: '2025-12-31' }, 'firstVisitDate<2026-01-01T07:00:00Z'],
    ['the last day there is', { to: '9999-12-31' }, 'firstVisitDate<=9999-12-31T07:00:00Z'],
    ['a time up to which', { to: '2026-01-31T10:00:00Z' }, 'firstVisitDate<=2026-01-31T10:00:00Z'],
    ['a date from which', { from: '2026-01-01' }, 'firstVisitDate>=2026-01-01T07:00:00Z'],
    ['a date before which', { 'modified-before': '2026-01-31' }, 'lastModified<2026-01-31T07:00:00Z'],
    ['a date in a filter', { filter: ['firstVisitDate<=2026-01-31'] }, 'firstVisitDate<=2026-01-31T07:00:00Z'],
    ['a date in summer time', { from: '2026-07-01' }, 'firstVisitDate>=2026-07-01T06:00:00Z'],
    ['a time without a zone', { from: '2026-01-01 08:30' }, 'firstVisitDate>=2026-01-01T15:30:00Z'],
    ['a time that is left out', { from: '2026-03-08T02:30' }, 'firstVisitDate>=2026-03-08T09:30:00Z'],
    ['a time that comes twice', { from: '2026-11-01T01:30' }, 'firstVisitDate>=2026-11-01T07:30:00Z'],
    ['an offset', { from: '2026-01-01T08:30+02:00' }, 'firstVisitDate>=2026-01-01T06:30:00Z'],
    ['fractions of a second', { from: '2026-01-01T08:30:00.1200Z' }, 'firstVisitDate>=2026-01-01T08:30:00.12Z'],
    ['finer ones', { from: '2026-01-01T08:30:00.0001234Z' }, 'firstVisitDate>=2026-01-01T08:30:00.0001234Z'],
    ['no fraction', { from: '2026-01-01T08:30:00.000Z' }, 'firstVisitDate>=2026-01-01T08:30:00Z'],
    ['the first day there is', { filter: ['lastModified>=0001-01-01'] }, 'lastModified>=0001-01-01T06:59:56Z'],
    ['a date where a date is kept', { 'date-of-birth': '2001-02-03' }, 'dateOfBirth==2001-02-03'],
    ['values in another letter case', { status: 'non-patient', gender: 'f' }, 'gender==F,patientStatus==NON-PATIENT'],
    ['ids with zeros', { location: ['005'], guarantor: '0042' }, 'preferredLocation.id->[5],primaryGuarantor.id==42'],
    ['all in small letters', { location: ['all'] }, 'preferredLocation.id->[ALL]'],
    ['a list for what needs quotes, where the key takes one', { phone: '5, 6' }, 'phones.number->["5, 6"]'],
    ['quotes where it takes none', { filter: ['lastName=="Lee, Jr"'] }, 'lastName=="Lee, Jr"'],
    ['no list of what must not be', { filter: ['phones.number!="5, 6"'] }, 'phones.number!="5, 6"'],
    ['a phone number as written', { phone: '(303) 555-0100' }, 'phones.number==(303) 555-0100'],
  ])('takes %s', (_name, flags, expected) => {
    const clock = new LocalClock('America/Denver');
    expect(readFilter(flags, filters, { instantOf: (wall) => clock.instantOf(wall) })).toBe(expected);
  });

  it('takes yes and no in any letter case, and whole numbers without zeros', () => {
    const appointments = operationOf(resourceNamed('appointments'), 'list').filters ?? {};
    expect(readFilter({ filter: ['asap==TRUE,needsFollowUp!=False'] }, appointments)).toBe(
      'asap==true,needsFollowUp!=false',
    );
    const production = operationOf(resourceNamed('locationproductionnetschedule'), 'report').filters ?? {};
    expect(readFilter({ from: '2026-03-02', range: '07' }, production)).toBe('fromDate==2026-03-02,range==7');
  });

  it('takes quoted values in a list', () => {
    expect(readFilter({ tag: ['"a,b",X-Ray', 'c'] }, documents.filters)).toBe('tags->["a,b",X-Ray,c]');
  });

  it.each<[string, FlagValues, string, string, string]>([
    ['an unknown key', { filter: ['lastNam==x'] }, 'filter.key', 'lastNam', 'Did you mean lastName?'],
    ['a key like nothing', { filter: ['zzz==x'] }, 'filter.key', 'zzz', 'Keys: id, firstName'],
    ['an operator', { filter: ['lastName>x'] }, 'filter.operator', 'lastName', 'Operators: == != ~= <>='],
    ['a value', { filter: ['gender==X'] }, 'filter.value', 'gender', 'one of M, F, O'],
    ['syntax', { filter: ['lastName'] }, 'filter.syntax', 'lastName', 'expected an operator'],
    ['an empty filter', { filter: [' '] }, 'filter.syntax', '--filter', 'empty'],
    ['the value of a shortcut', { status: 'X' }, 'filter.value', '--status', '--status must be one of NEW'],
    ['an empty shortcut', { email: '' }, 'filter.value', '--email', '--email must be text'],
    ['an id', { guarantor: 'abc' }, 'filter.value', '--guarantor', '--guarantor must be a positive integer'],
    ['a list that ends too early', { id: ['1],lastName==x,id->[2'] }, 'filter.value', '--id', 'separated by commas'],
    ['an open quote', { id: ['"1'] }, 'filter.value', '--id', 'double quotes'],
    ['ids and all', { location: ['5,ALL'] }, 'filter.value', '--location', '--location takes either ids or ALL'],
    ['a date that is none', { to: '2026-02-30' }, 'filter.value', '--to', '--to must be an ISO 8601'],
  ])('refuses %s', (_name, flags, code, source, description) => {
    expect(refusalOf(flags).problems[0]).toMatchObject({
      code,
      source,
      description: expect.stringContaining(description),
    });
  });

  it('reports everything at once', () => {
    const { problems } = refusalOf({ filter: ['zzz==1', 'gender==X'], status: 'Y' });
    expect(problems.map(({ source }) => source)).toEqual(['zzz', 'gender', '--status']);
  });

  it('wants keys that are required', () => {
    const keys = operationOf(patients, 'calculated').filters ?? {};
    expect(refusalOf({}, keys).problems).toEqual([
      { code: 'filter.missing', source: '--patient', description: '--patient is required (filter key patient.id).' },
    ]);
    expect(readFilter({ filter: ['patient.id==5'] }, keys)).toBe('patient.id==5');
  });
});
