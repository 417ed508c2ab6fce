import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { cents, groups, idOf, NOW, smallPractice } from './smallpractice.ts';

const { of } = smallPractice();
const appointments = of('AppointmentV1');
const zones = new Map(of('Location').map(({ id, timezone }) => [id, timezone as string]));
const local = (record: DemoRecord, field = 'start') =>
  DateTime.fromISO(record[field] as string, { zone: zones.get(idOf(record.location))! });
const MISSED = ['NO_SHOW', 'BROKEN'];

const histories = groups(of('AppointmentHistoryV1'), ({ appointment }) => idOf(appointment));
const missed = groups(of('MissedAppointmentV1'), ({ appointment }) => idOf(appointment));

describe('appointments', () => {
  it('lie inside the hours of their operatory and provider', () => {
    const blocks = groups(of('ScheduleTemplateV1'), ({ operatory, dayOfWeek }) => `${idOf(operatory)} ${dayOfWeek}`);
    for (const appointment of appointments) {
      const [start, end] = [local(appointment), local(appointment, 'end')];
      const day = blocks.get(`${idOf(appointment.operatory)} ${start.toFormat('cccc').toUpperCase()}`) ?? [];
      const fits = day.filter(
        (block) =>
          (block.start as string) <= start.toFormat('HH:mm') &&
          end.toFormat('HH:mm') <= (block.end as string) &&
          idOf(block.provider) === idOf(appointment.provider),
      );
      expect(fits, `${start.toISO()}`).toHaveLength(1);
      expect(end.diff(start).as('minutes')).toBe(appointment.duration);
    }
  });

  it('never book an operatory or a provider twice', () => {
    for (const by of ['operatory', 'provider']) {
      for (const booked of groups(appointments, (appointment) => idOf(appointment[by])).values()) {
        const spans = booked.map(({ start, end }) => [start as string, end as string] as const).sort();
        for (let at = 1; at < spans.length; at++) expect(spans[at]![0] >= spans[at - 1]![1]).toBe(true);
      }
    }
  });

  it('avoid closures and days off, and no meeting crosses them', () => {
    const busy = groups(of('EventV1'), ({ location }) => idOf(location));
    for (const appointment of appointments) {
      const clash = busy.get(idOf(appointment.location))!.filter((event) => {
        const concerns =
          event.provider === null
            ? event.operatory === null || idOf(event.operatory) === idOf(appointment.operatory)
            : idOf(event.provider) === idOf(appointment.provider);
        return (
          concerns &&
          (event.start as string) < (appointment.end as string) &&
          (appointment.start as string) < (event.end as string)
        );
      });
      expect(clash).toEqual([]);
    }
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
    for (const appointment of appointments) {
      const patient = patients.get(idOf(appointment.patient))!;
      expect(['DUPLICATE', 'NON-PATIENT']).not.toContain(patient.patientStatus);
      expect(patient.preferredLocation).toEqual(appointment.location);
      if (appointment.status !== 'COMPLETED' || (appointment.start as string) >= NOW) continue;
      expect((patient.firstVisitDate as string) <= (appointment.start as string)).toBe(true);
    }
  });

  it('have a history from the booking to the present state', () => {
    for (const appointment of appointments) {
      const rows = histories.get(appointment.id as number)!;
      const [first, last] = [rows[0]!, rows.at(-1)!];
      expect(rows.map(({ action }) => action)).toEqual(['CREATE', ...rows.slice(1).map(() => 'UPDATE')]);
      expect([first.created, last.lastModified]).toEqual([appointment.created, appointment.lastModified]);
      expect([last.status, last.start]).toEqual([appointment.status, appointment.start]);
      const times = rows.map(({ created }) => created as string);
      expect(times).toEqual([...times].sort());
    }
  });

  it('leave a missed record wherever their history was broken or a no-show', () => {
    for (const appointment of appointments) {
      const rows = histories.get(appointment.id as number)!;
      const broken = rows.filter(({ status }) => MISSED.includes(status as string));
      const records = missed.get(appointment.id as number) ?? [];
      expect(records.map(({ start, status }) => [start, status])).toEqual(
        broken.map(({ start, status }) => [start, status]),
      );
      for (const { rescheduledOn } of records) {
        expect(rescheduledOn === null).toBe(MISSED.includes(appointment.status as string));
        if (rescheduledOn !== null) expect(rows.map(({ created }) => created)).toContain(rescheduledOn);
      }
    }
    expect(of('MissedAppointmentV1').some(({ rescheduledOn }) => rescheduledOn !== null)).toBe(true);
  });

  it('that were completed are in the ledger with their production', () => {
    const day = (patient: unknown, date: unknown) => `${idOf(patient)} ${date}`;
    const charges = groups(
      of('Transaction').filter(({ ledgerType, isActive }) => ledgerType === 'PatientProcedureLedger' && isActive),
      ({ patient, transactionDate }) => day(patient, transactionDate),
    );
    const completed = appointments.filter(({ status, end }) => status === 'COMPLETED' && (end as string) <= NOW);
    const booked = groups(completed, (appointment) => day(appointment.patient, local(appointment).toISODate()));
    expect([...charges.keys()].sort()).toEqual([...booked.keys()].sort());
    for (const [key, visits] of booked) {
      const produced = visits.reduce(
        (sum, { production }) => sum + cents((production as { amount: number }).amount),
        0,
      );
      expect(charges.get(key)!.reduce((sum, { amount }) => sum + cents(amount), 0)).toBe(produced);
    }
  });
});
