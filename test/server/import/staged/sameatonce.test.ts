import { expect, it } from 'vitest';
import type { WireRecord } from '../../../support/calls.ts';
import { big, ORGANIZATION, PATIENTS } from '../../../support/ids.ts';
import { allRecords, bareRecords, line } from '../../../support/practice.ts';
import { ON_POSTGRES } from '../../../support/store.ts';
import { bothOutcomes, SMALL_PARTS } from './stores.ts';

const NEW = 'a-new-practice';

it('long runs of new records leave the same at once and in parts, and so does what is between them', async () => {
  const people = (from: number, count: number, firstName = 'P') =>
    Array.from({ length: count }, (_, n) => ({ id: big(10_000 + from + n), firstName, lastName: `No ${n}` }));
  const missed = Array.from({ length: 230 }, (_, n) => ({
    id: big(20_000 + n),
    patient: { id: big(10_000 + (n % 7)) },
  }));
  // Only where there were no records are runs told of by the database itself: in the new organization.
  const records = (ON_POSTGRES ? [NEW] : [ORGANIZATION, NEW]).flatMap((own) => {
    const all = (type: string, rows: readonly WireRecord[]) => rows.map((row) => line(type, row, own));
    return [
      ...all('PatientV1', [...people(0, 260), ...people(3, 1, 'Again'), ...people(260, 40)]),
      ...all('MissedAppointmentV1', missed),
      ...all('PatientV1', [...people(300, 199), ...people(7, 1, 'Again'), ...people(600, 201), ...people(900, 520)]),
      ...all('MissedAppointmentV1', [{ id: big(20_229), deleted: true }]),
      ...all('PatientV1', people(1500, 30)),
    ];
  });
  records.push({ type: 'Organization', id: NEW, timezone: 'UTC' });
  const { atOnce, inParts } = await bothOutcomes(allRecords(), records, { ...SMALL_PARTS, least: 300, most: 300 });
  expect(inParts.result).not.toHaveProperty('problems');
  expect(inParts).toEqual(atOnce);
});

it('referred patients, stored or named or both, claims of others and deletions leave the same at once and in parts', async () => {
  const own = (n: number, by?: number) =>
    line('PatientV1', {
      ...{ id: big(9000 + n), firstName: 'P', lastName: `No ${n}` },
      ...(by !== undefined && { referredByPatient: { id: big(9000 + by) } }),
    });
  const charged = (n: number, id: number) => line('InsuranceClaim', { id: big(7300 + n), patient: { id } });
  const first = [
    ...[...allRecords(), own(1), own(2, 1), own(4, 1), own(5, 1), own(6, 1), own(7), own(8, 7), own(10, 4)],
    ...[charged(1, big(9004)), charged(2, big(9002))],
  ];
  const records = [
    ...[own(1), own(9, 1), own(5, 1), own(6), own(3, 1), own(7, 1), own(8, 1)],
    // Whose a claim was is told, too, and so is what is deleted.
    ...[charged(1, big(9001)), line('InsuranceClaim', { id: big(7302), deleted: true })],
    line('MissedAppointmentV1', { id: big(551), deleted: true }),
    line('PatientV1', { id: big(9010), deleted: true }),
  ];
  const { atOnce, inParts } = await bothOutcomes(first, records);
  expect(inParts.result).not.toHaveProperty('problems');
  expect(inParts).toEqual(atOnce);
});

it('more changes than are read at once, none of them in a run, leave the same at once and in parts', async () => {
  const missed = (n: number) => line('MissedAppointmentV1', { id: big(20_000 + n), patient: { id: PATIENTS.ann } });
  const pairs = Array.from({ length: 260 }, (_, n) => [
    line('PatientV1', { id: big(9000 + n), firstName: 'P', lastName: `No ${n}` }),
    missed(n),
  ]);
  const limits = { ...SMALL_PARTS, least: 300, most: 300 };
  const { atOnce, inParts } = await bothOutcomes(bareRecords(), pairs.flat(), limits);
  expect(inParts.result).not.toHaveProperty('problems');
  expect(inParts).toEqual(atOnce);
});
