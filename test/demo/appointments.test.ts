import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { cents, differing, groups, idOf, NOW, smallPractice } from './smallpractice.ts';

const { of } = smallPractice();
const appointments = of('AppointmentV1');
const clocks = new Map(
  of('Location').map(({ id, timezone }) => [
    id,
    new Intl.DateTimeFormat('sv-SE', { timeZone: timezone as string, dateStyle: 'short', timeStyle: 'short' }),
  ]),
);
const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

/** The date, the time and the weekday at the location, as the platform knows them. */
function local(record: DemoRecord, field = 'start') {
  const [date = '', time = ''] = clocks
    .get(idOf(record.location))!
    .format(Date.parse(record[field] as string))
    .split(' ');
  return { date, time, day: DAYS[new Date(date).getUTCDay()] };
}
const MISSED = ['NO_SHOW', 'BROKEN'];
const MINUTE = 60_000;

const histories = groups(of('AppointmentHistoryV1'), ({ appointment }) => idOf(appointment));
const missed = groups(of('MissedAppointmentV1'), ({ appointment }) => idOf(appointment));

describe('appointments', () => {
  it('lie inside the hours of their operatory and provider', () => {
    const blocks = groups(of('ScheduleTemplateV1'), ({ operatory, dayOfWeek }) => `${idOf(operatory)} ${dayOfWeek}`);
    const wrong = differing(appointments, (appointment) => {
      const [start, end] = [local(appointment), local(appointment, 'end')];
      const day = blocks.get(`${idOf(appointment.operatory)} ${start.day}`) ?? [];
      const fits = day.filter(
        (block) =>
          (block.start as string) <= start.time &&
          end.time <= (block.end as string) &&
          idOf(block.provider) === idOf(appointment.provider),
      );
      const took = Date.parse(appointment.end as string) - Date.parse(appointment.start as string);
      return [
        [appointment.id, fits.length, took / MINUTE],
        [appointment.id, 1, appointment.duration],
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('never book an operatory or a provider twice', () => {
    for (const by of ['operatory', 'provider']) {
      for (const booked of groups(appointments, (appointment) => idOf(appointment[by])).values()) {
        const spans = booked.map(({ start, end }) => [start as string, end as string] as const).sort();
        expect(spans.filter(([start], at) => at > 0 && start < spans[at - 1]![1])).toEqual([]);
      }
    }
  });

  it('avoid closures and days off, and no meeting crosses them', () => {
    const busy = groups(of('EventV1'), ({ location }) => idOf(location));
    const clashes = appointments.flatMap((appointment) =>
      busy.get(idOf(appointment.location))!.filter((event) => {
        const concerns =
          event.provider === null
            ? event.operatory === null || idOf(event.operatory) === idOf(appointment.operatory)
            : idOf(event.provider) === idOf(appointment.provider);
        return (
          concerns &&
          (event.start as string) < (appointment.end as string) &&
          (appointment.start as string) < (event.end as string)
        );
      }),
    );
    expect(clashes).toEqual([]);
  });

  it('lie two years back and three months ahead, with statuses of their time', () => {
    const past = appointments.filter(({ end }) => (end as string) <= NOW);
    const ahead = appointments.filter(({ start }) => (start as string) >= NOW);
    expect(past.length + ahead.length).toBe(appointments.length);
    const statuses = new Set(appointments.map(({ status }) => status));
    expect(statuses.size).toBeGreaterThan(8);
    const completed = past.filter(({ status }) => status === 'COMPLETED').length / past.length;
    expect(completed).toBeGreaterThan(0.8);
    expect(ahead.filter(({ status }) => status === 'NO_SHOW')).toEqual([]);
    expect(past.filter(({ status }) => ['CONFIRMED', 'UNCONFIRMED'].includes(status as string))).toEqual([]);
  });

  it('come from patients who can have them, after their first visit', () => {
    const patients = new Map(of('PatientV1').map((patient) => [patient.id, patient]));
    const wrong = differing(appointments, ({ id, location, status, start, ...appointment }) => {
      const patient = patients.get(idOf(appointment.patient))!;
      const can = !['DUPLICATE', 'NON-PATIENT'].includes(patient.patientStatus as string);
      const came = status === 'COMPLETED' && (start as string) < NOW;
      const isFirst = came && (patient.firstVisitDate as string) > (start as string);
      return [
        [id, can, patient.preferredLocation, isFirst],
        [id, true, location, false],
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('have a history from the booking to the present state', () => {
    const wrong = differing(appointments, ({ id, created, lastModified, status, start }) => {
      const rows = histories.get(id as number)!;
      const [first, last] = [rows[0]!, rows.at(-1)!];
      const times = rows.map((row) => row.created as string);
      return [
        [first.created, last.lastModified, last.status, last.start, times, rows.map(({ action }) => action)],
        [created, lastModified, status, start, times.toSorted(), ['CREATE', ...rows.slice(1).map(() => 'UPDATE')]],
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('leave a missed record wherever their history was broken or a no-show', () => {
    const wrong = differing(appointments, (appointment) => {
      const rows = histories.get(appointment.id as number)!;
      const times = rows.map(({ created }) => created);
      const broken = rows.filter(({ status }) => MISSED.includes(status as string));
      const isMissed = MISSED.includes(appointment.status as string);
      const records = missed.get(appointment.id as number) ?? [];
      return [
        records.map(({ start, status, rescheduledOn }) => [
          ...[start, status, rescheduledOn === null],
          rescheduledOn === null || times.includes(rescheduledOn),
        ]),
        broken.map(({ start, status }) => [start, status, isMissed, true]),
      ];
    });
    expect(wrong).toEqual([]);
    expect(of('MissedAppointmentV1').some(({ rescheduledOn }) => rescheduledOn !== null)).toBe(true);
  });

  it('that were completed are in the ledger with their production', () => {
    const day = (patient: unknown, date: unknown) => `${idOf(patient)} ${date}`;
    const charges = groups(
      of('Transaction').filter(({ ledgerType, isActive }) => ledgerType === 'PatientProcedureLedger' && isActive),
      ({ patient, transactionDate }) => day(patient, transactionDate),
    );
    const completed = appointments.filter(({ status, end }) => status === 'COMPLETED' && (end as string) <= NOW);
    const booked = groups(completed, (appointment) => day(appointment.patient, local(appointment).date));
    expect([...charges.keys()].sort()).toEqual([...booked.keys()].sort());
    const wrong = differing(booked, ([key, visits]) => [
      charges.get(key)!.reduce((sum, { amount }) => sum + cents(amount), 0),
      visits.reduce((sum, { production }) => sum + cents((production as { amount: number }).amount), 0),
    ]);
    expect(wrong).toEqual([]);
  });
});
