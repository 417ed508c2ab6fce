import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big } from '../ids.ts';
import { allRecords, line } from '../practice.ts';
import { appointmentFixture, appointmentHistoryFixture } from '../resources/appointments.ts';
import { eventFixture } from '../resources/events.ts';
import { patientFixture } from '../resources/patients.ts';
import { patientInsurancePlanFixture } from '../resources/readonly.ts';
import { transactionFixture } from '../resources/transactions.ts';
import { seeded } from './seeded.ts';

/** A resource with enough records for many pages. */
export interface ManyRecords {
  /** The topic of its commands. */
  readonly topic: string;
  /** Ids of all its records, ascending. */
  readonly ids: readonly number[];
  readonly lines: readonly WireRecord[];
}

/** Resources of every kind of paging: by cursor, by cursor against a default order (events), by number (histories). */
const KINDS: readonly (readonly [ResourceFixture, number])[] = [
  [patientFixture, 83],
  [transactionFixture, 70],
  [appointmentHistoryFixture, 61],
  [eventFixture, 45],
  [appointmentFixture, 52],
  [patientInsurancePlanFixture, 38],
];

export const MANY: readonly ManyRecords[] = KINDS.map(([fixture, count]) => many(fixture, count));

/** The import lines of both practices with all of them. */
export function manyRecords(): readonly WireRecord[] {
  return [...allRecords(), ...MANY.flatMap(({ lines }) => lines)];
}

/** The same with seven times as many: patients are more than a page of 500, and more rows than are copied at once. */
export function manyPages(): readonly WireRecord[] {
  return [...allRecords(), ...KINDS.flatMap(([fixture, count]) => many(fixture, 7 * count).lines)];
}

/** The records of a fixture, and copies of the first one under ids that lie close together in places and far apart in others. */
function many({ resource, records }: ResourceFixture, count: number): ManyRecords {
  const random = seeded(count);
  const [first] = records;
  const ids: number[] = [];
  for (let id = big(2_000_000); ids.length < count; id += gap(random())) ids.push(id);
  const lines = ids.map((id, at) => line(resource.type, { ...first, id, ...textOf(resource.type, at) }));
  return { topic: resource.name, ids: [...records.map(({ id }) => Number(id)), ...ids], lines };
}

/** Mostly the next id, sometimes a few or very many further on. */
function gap(random: number): number {
  if (random < 0.6) return 1;
  return random < 0.95 ? 1 + Math.floor(random * 40) : 3_000_000;
}

/** Something that tells the copies apart, with characters of several bytes and some that CSV has to quote. */
function textOf(type: string, at: number): WireRecord {
  // A last name has 25 characters at most.
  const text = `Ünïcode 漢字 "${at % 100}", and\nmore`;
  if (type === 'PatientV1') return { lastName: text, address1: `=${at}+1` };
  return type === 'EventV1' ? { description: text } : { note: text };
}
