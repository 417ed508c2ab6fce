import type { FilterKey } from '../../src/catalog/filter/check.ts';
import type { WireRecord } from './calls.ts';
import type { ResourceFixture } from './fixture.ts';
import {
  BILLING_TYPES,
  big,
  CLAIMS,
  EXAMS,
  LOCATIONS,
  OPERATORIES,
  PATIENTS,
  PLANS,
  PROVIDERS,
  REFERRALS,
} from './ids.ts';

/** Ids of the practice that links of each kind may lead to. */
const TARGETS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  PatientV1: PATIENTS,
  Location: LOCATIONS,
  Provider: PROVIDERS,
  Operatory: OPERATORIES,
  PerioExam: EXAMS,
  Referral: REFERRALS,
  DiscountPlan: PLANS,
  BillingType: BILLING_TYPES,
  InsuranceClaim: CLAIMS,
};

/** Values of each kind of key that a filter has to tell apart. Text is short enough for any field. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: ['Q', 'q', '\u00c5b', 'A\u030aB', '1%', '1_'],
  date: ['2026-01-31', '1999-12-31', '2000-02-29'],
  dateTime: ['2026-01-31T08:00:00.000Z', '2026-01-31T08:00:00.001Z', '1999-12-31T23:59:59.999Z'],
  yesNo: [true, false],
  integer: [1, 2, 30],
  dollars: [1, 2.5, 30],
  tag: [['Consent', 'X-Ray'], ['x-ray'], []],
};

/**
 * A fixture whose records every filter key tells apart: where its own lines give a key no two values, values of the kind
 * of the key are filled in, and the last record has none. So a key that is new in the catalog is tested as it is.
 */
export function toldApart(fixture: ResourceFixture): ResourceFixture {
  const keys = Object.values(fixture.resource.filters).filter((key) => key.key !== 'id');
  return { ...fixture, records: keys.reduce((records, key) => withKey(fixture, records, key), fixture.records) };
}

function withKey({ resource }: ResourceFixture, records: readonly WireRecord[], { key, value, required }: FilterKey) {
  const [field = '', part] = key.split('.');
  const found = new Set(records.map((record) => JSON.stringify(record[field])));
  // What every filter must name is the same for all records of a test.
  if (found.size > 1 || required || resource.computed === true) return records;
  const kind = resource.fields[field]?.kind;
  const targets = TARGETS[kind?.target ?? ''];
  const ids = targets === undefined ? [big(1), big(2), big(3)] : Object.values(targets);
  const values = value.values ?? (value.name === 'id' ? ids : VALUES[value.name]);
  if (values === undefined) throw new Error(`There are no test values for ${resource.name} ${key} (${value.name}).`);
  return records.map((record, index) => {
    const told = index === records.length - 1 ? null : values[index % values.length];
    if (part === undefined || told === null) return { ...record, [field]: told };
    return { ...record, [field]: { ...(record[field] as WireRecord | undefined), [part]: told } };
  });
}
