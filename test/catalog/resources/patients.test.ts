import { describe, expect, it } from 'vitest';
import { checkFilter } from '../../../src/catalog/filter/check.ts';
import {
  billingTypeFields,
  calculatedFields,
  patientFields,
  patientFilters,
  patients,
} from '../../../src/catalog/resources/patients.ts';
import { readWith } from '../fields/reading.ts';

// Written from the specification (Patients, Patient, Limits, 400 conditions) and D20–D22, not from the code.

const FILTERS: Record<string, string> = {
  id: '->',
  firstName: '== != ~= <>=',
  lastName: '== != ~= <>=',
  preferredName: '== != ~= <>=',
  gender: '== !=',
  patientStatus: '== !=',
  dateOfBirth: '== !=',
  'phones.number': '== != ->',
  emailAddress: '==',
  chartNumber: '== .absent .present',
  'preferredLocation.id': '== != ->',
  'primaryGuarantor.id': '==',
  'duplicateOfPatient.id': '==',
  'primaryContact.id': '==',
  firstVisitDate: '== > >= < <=',
  lastModified: '> >= < <=',
  'referredByPatient.id': '== != ->',
  'referredByReferral.id': '== != ->',
};

const OPERATORS = ['==', '!=', '~=', '<>=', '->', '>', '>=', '<', '<=', '.absent', '.present'];

const VALUES: Record<string, string> = {
  gender: 'F',
  patientStatus: 'NON-PATIENT',
  dateOfBirth: '1980-02-29',
  'phones.number': '555-0142',
  firstVisitDate: '2026-01-31',
  lastModified: '2026-01-31T10:00:00Z',
};

function term(key: string, operator: string): string {
  if (operator.startsWith('.')) return key + operator;
  const value = VALUES[key] ?? '7000000000114';
  return operator === '->' ? `${key}->[${value}]` : key + operator + value;
}

it('a state is one of the list; another service may know other codes of two letters (D50)', () => {
  const { kind } = patientFields.state;
  expect(readWith(kind, ' ut ')).toMatchObject({ value: 'UT', problems: [] });
  expect(readWith(kind, 'xx').problems).toEqual(['field.choice field']);
  expect(readWith(kind, ' xx ', { forService: true })).toMatchObject({ value: 'XX', problems: [] });
  for (const other of ['x', 'xxx', '12', 'é1']) {
    expect(readWith(kind, other, { forService: true }).problems).toEqual(['field.choice field']);
  }
});

describe('patient filters', () => {
  it('are those listed', () => {
    const declared = Object.values(patientFilters).map(({ key, operators }) => [key, [...operators].sort()]);
    const listed = Object.entries(FILTERS).map(([key, operators]) => [key, operators.split(' ').sort()]);
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(listed));
  });

  const pairs = Object.keys(FILTERS).flatMap((key) => OPERATORS.map((operator) => [key, operator] as const));
  it.each(pairs)('%s with %s is read or refused as listed', (key, operator) => {
    const read = () => checkFilter(term(key, operator), patientFilters);
    if (FILTERS[key]?.split(' ').includes(operator)) expect(read()).toMatchObject([{ operator, key: { key } }]);
    else expect(read).toThrow(`${key} does not take ${operator}. Operators: `);
  });

  it.each([
    ['patientStatus', ['NEW', 'ACTIVE', 'NON-PATIENT', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED']],
    ['gender', ['M', 'F', 'O']],
  ])('%s takes its listed values in any letter case', (key, values) => {
    for (const value of values) {
      expect(checkFilter(`${key}==${value.toLowerCase()}`, patientFilters)).toMatchObject([{ values: [value] }]);
    }
    expect(() => checkFilter(`${key}==X`, patientFilters)).toThrow(`one of ${values.join(', ')}`);
  });
});

describe('patient fields', () => {
  const names = (wanted: (field: (typeof patientFields)[keyof typeof patientFields]) => boolean) =>
    Object.entries(patientFields)
      .filter(([, field]) => wanted(field))
      .map(([name]) => name)
      .sort();

  it('required by a POST are those listed', () => {
    expect(names((field) => field.required)).toEqual(
      [
        ...['firstName', 'lastName', 'contactMethod', 'languageType', 'patientStatus', 'gender', 'dateOfBirth'],
        ...['preferredLocation', 'address1', 'city', 'state', 'postalCode'],
      ].sort(),
    );
  });

  it('that are read-only are those listed', () => {
    expect(names((field) => field.access === 'readOnly')).toEqual(
      ['id', 'firstVisitDate', 'lastModified', 'referredPatients', 'billingTypes'].sort(),
    );
  });

  it('that a client may write are those listed', () => {
    expect(names((field) => field.access === 'readWrite')).toEqual(
      [
        ...['firstName', 'lastName', 'preferredName', 'gender', 'dateOfBirth', 'patientStatus', 'contactMethod'],
        ...['languageType', 'chartNumber', 'emailAddress', 'phones', 'preferredLocation', 'primaryGuarantor'],
        ...['secondaryGuarantor', 'primaryContact', 'secondaryContact', 'address1', 'address2', 'city', 'state'],
        ...['postalCode', 'referredByPatient', 'referredByReferral', 'discountType', 'discountPlan', 'income'],
        ...['familySize', 'title', 'middleInitial', 'nameSuffix', 'primaryProvider', 'duplicateOfPatient'],
      ].sort(),
    );
  });

  it.each<[keyof typeof patientFields, unknown[], unknown[]]>([
    ['firstName', ['A', 'x'.repeat(25), ' Ann '], ['', '  ', 'x'.repeat(26), 5]],
    ['lastName', ['A', '\u{1f9b7}'.repeat(25)], ['', '\u{1f9b7}'.repeat(26)]],
    ['gender', ['M', 'f', 'O'], ['X', 'Male', '']],
    ['dateOfBirth', ['1980-02-29'], ['1981-02-29', '29.02.1980', '1980-02-29T00:00:00Z', 19800229]],
    ['patientStatus', ['NEW', 'active', 'Non-Patient', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED'], ['GONE', '']],
    ['contactMethod', ['Call me', 'TEXT ME', 'email me'], ['Email', 'Mail me']],
    [
      'languageType',
      [
        'English',
        'spanish',
        'French',
        'Portuguese',
        'Chinese',
        'Vietnamese',
        'Korean',
        'Tagalog',
        'Russian',
        'Arabic',
        'Other',
      ],
      ['Klingon', 'en'],
    ],
    ['address1', ['x', 'x'.repeat(50)], ['', 'x'.repeat(51)]],
    ['city', ['x', 'x'.repeat(30)], ['', 'x'.repeat(31)]],
    ['postalCode', ['12345', '12345-6789'], ['1234', '12345-67890']],
    ['state', ['CO', 'co', 'DC', 'PR', 'AS', 'GU', 'MP', 'VI', 'AA', 'AE', 'AP'], ['XX', 'Colorado', '']],
    ['preferredLocation', [{ id: 5 }, { id: '5' }], [5, { id: 0 }, {}]],
    ['income', [0, 25_000.5, '100'], [-1, 'much']],
    ['familySize', [1, 12, '3'], [0, -1, 2.5, 'four']],
    ['discountType', ['BASIC', 'sliding_fees'], ['FREE']],
    ['discountPlan', [{ id: 1 }], [1, 'gold']],
    [
      'phones',
      [[], [{ phoneType: 'mobile', number: '303-555-0142', sequence: 1 }], [{ phoneType: 'FAX', number: '5550100' }]],
      [
        {},
        [{ number: '5550100' }],
        [{ phoneType: 'HOME' }],
        [{ phoneType: 'PAGER', number: '1' }],
        [{ phoneType: 'HOME', number: '1', sequence: 'a' }],
      ],
    ],
  ])('%s', (name, right, wrong) => {
    for (const input of right)
      expect(readWith(patientFields[name].kind, input).problems, JSON.stringify(input)).toEqual([]);
    for (const input of wrong)
      expect(readWith(patientFields[name].kind, input).problems, JSON.stringify(input)).toHaveLength(1);
  });

  it('state has the 50 states, DC, 5 territories and 3 military codes', () => {
    expect(patientFields.state.kind.values).toHaveLength(59);
    expect(new Set(patientFields.state.kind.values).size).toBe(59);
  });

  it('emitted by the smaller endpoints are those of D21 and D22', () => {
    expect(Object.keys(calculatedFields)).toEqual(['id', 'lastVisitDate']);
    expect(Object.keys(billingTypeFields)).toEqual(['id', 'type', 'name']);
  });
});

describe('patient operations', () => {
  it('count by the same keys as they list, under both names (D18)', () => {
    expect(patients.operations.count?.filters).toBe(patients.operations.list?.filters);
    expect([...(patients.operations.count?.countNames ?? [])].sort()).toEqual(['total', 'totalCount']);
  });

  it('want filter and responseFields for calculated fields', () => {
    expect(patients.operations.calculated).toMatchObject({ filterRequired: true, selectable: 'required' });
  });
});
