import type { OfficeColumn } from './report.ts';

/** The patient of a row. */
export const PATIENT: readonly OfficeColumn[] = [
  { name: 'patient.id', kind: 'id' },
  { name: 'patient.firstName', kind: 'text' },
  { name: 'patient.lastName', kind: 'text' },
];

/** Phones to call, and whose they are. */
export const PHONES: readonly OfficeColumn[] = [
  { name: 'phone', kind: 'text' },
  { name: 'phone_2', kind: 'text' },
  { name: 'phone_3', kind: 'text' },
  { name: 'phoneOf.id', kind: 'id' },
];

/** A link with its name from the names file. */
export function named(name: 'location' | 'provider' | 'operatory'): readonly OfficeColumn[] {
  return [
    { name: `${name}.id`, kind: 'id' },
    { name: `${name}.name`, kind: 'text' },
  ];
}

/** Columns of one kind. */
export function of(kind: OfficeColumn['kind'], ...names: readonly string[]): readonly OfficeColumn[] {
  return names.map((name) => ({ name, kind }));
}
