import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowsOf } from '../../../support/calls.ts';
import { sharedService } from '../../../support/service.ts';
import { type Line, location, newPractice, patient } from '../support.ts';
import { instants, type OracleBusy, type OracleTemplate, oracleOpenings } from './oracle.ts';

const service = sharedService(() => []);

const REASONS = [1, 2, 3];
const TYPES = ['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT'];
const WEEKDAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

/** Zones and the first day of a week that holds a clock change, two of them at midnight, or none. */
const WEEKS = [
  ['America/Denver', '2026-03-06'],
  ['America/Denver', '2026-10-30'],
  ['Europe/Berlin', '2026-03-27'],
  ['Australia/Lord_Howe', '2026-04-03'],
  ['Australia/Lord_Howe', '2026-10-02'],
  ['Africa/Cairo', '2026-04-22'],
  ['Africa/Cairo', '2026-10-28'],
  ['Asia/Kathmandu', '2026-06-01'],
] as const;
const tables = new Map(WEEKS.map(([zone, date]) => [`${zone} ${date}`, instants(zone, date)]));

const clockText = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
const times = fc
  .oneof(fc.constantFrom(0, 60, 75, 90, 120, 150, 165, 180, 480, 720, 1020, 1380, 1410, 1440), fc.nat(1440))
  .map(clockText);

const rarely = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, value);

const template = fc.record({
  operatory: fc.constantFrom(51, 52),
  provider: fc.constantFrom(3, 4),
  day: fc.integer({ min: 1, max: 3 }),
  times: fc.oneof(
    fc.tuple(times, times).map((two) => two.sort()),
    fc.tuple(times, times),
  ),
  bookingTypes: fc.subarray(TYPES),
  reasons: fc.subarray(REASONS),
  validFrom: rarely(fc.nat(4)),
  validTo: rarely(fc.nat(4)),
});
const busy = fc.record({
  at: fc.integer({ min: -1440, max: 6 * 1440 }),
  duration: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 5, max: 300 }) }, fc.constantFrom(5, 1439, 1440)),
  operatory: fc.constantFrom(undefined, 51, 52, 61, 61),
  provider: fc.constantFrom(undefined, 3, 4, 9, 9),
  here: fc.boolean(),
});
const appointment = fc.record({
  at: fc.integer({ min: -1440, max: 6 * 1440 }),
  duration: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 300 }) }, fc.constantFrom(1, 1440)),
  operatory: fc.constantFrom(51, 52, 61),
  provider: fc.constantFrom(3, 4, 9),
  status: fc.constantFrom('CONFIRMED', 'CHAIR', 'COMPLETED', 'BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'),
});
const asked = fc.record({
  week: fc.constantFrom(...WEEKS),
  templates: fc.array(template, { minLength: 3, maxLength: 10 }),
  appointments: fc.array(appointment, { maxLength: 10 }),
  events: fc.array(busy, { maxLength: 5 }),
  firstDay: fc.nat(2),
  moreDays: fc.integer({ min: 1, max: 3 }),
  min: rarely(fc.integer({ min: 5, max: 200 })),
  operatories: rarely(fc.constantFrom<number[]>([51], [52, 61])),
  providers: rarely(fc.constantFrom<number[]>([3], [4, 3])),
  types: rarely(fc.subarray(TYPES, { minLength: 1, maxLength: 2 })),
  reasons: rarely(fc.subarray(REASONS, { minLength: 1, maxLength: 2 })),
});

const link = (id: number | undefined) => (id === undefined ? null : { id });
const list = (key: string, values: readonly unknown[] | undefined) =>
  values === undefined ? [] : [values.length === 1 ? `${key}==${values[0]}` : `${key}->[${values}]`];

describe('openings of generated schedules', () => {
  it('overlap nothing that is busy and miss no free minute', async () => {
    let slots = 0;
    await fc.assert(
      fc.asyncProperty(asked, async (made) => {
        const [zone, monday] = made.week;
        const instantOf = tables.get(`${zone} ${monday}`)!;
        const dayOf = (n: number) => new Date(Date.parse(monday) + n * 86_400_000).toISOString().slice(0, 10);
        const start = (at: number) => Date.parse(monday) + at * 60_000;
        const templates: OracleTemplate[] = made.templates.map(
          ({ day, times: [from = '', to = ''], validFrom, validTo, ...rest }, n) => ({
            ...rest,
            start: from === '24:00' ? '23:59' : from,
            end: to,
            id: n + 1,
            dayOfWeek: WEEKDAYS[new Date(`${dayOf(day)}T12:00Z`).getUTCDay()]!,
            ...(validFrom !== undefined && { validFrom: dayOf(validFrom) }),
            ...(validTo !== undefined && { validTo: dayOf(validTo) }),
          }),
        );
        const lines: Line[] = [
          location(5, zone),
          location(6, 'UTC'),
          ...[51, 52, 61].map((id) => ({ type: 'Operatory', id, location: { id: Math.floor(id / 10) } })),
          ...[3, 4, 9].map((id) => ({ type: 'Provider', id })),
          ...REASONS.map((id) => ({ type: 'ScheduleTemplateReasonV1', id, reason: 'R', location: { id: 5 } })),
          patient(1),
          ...templates.map(({ operatory, provider, reasons, ...rest }) => ({
            type: 'ScheduleTemplateV1',
            ...rest,
            location: { id: 5 },
            operatory: { id: operatory },
            provider: { id: provider },
            reasons: reasons.map((id) => ({ id })),
          })),
          ...made.appointments.map(({ at, duration, operatory, provider, status }, n) => ({
            type: 'AppointmentV1',
            id: n + 1,
            start: new Date(start(at)).toISOString(),
            duration,
            operatory: { id: operatory },
            provider: { id: provider },
            patient: { id: 1 },
            status,
          })),
          ...made.events.map(({ at, duration, operatory, provider, here }, n) => ({
            type: 'EventV1',
            id: n + 1,
            title: 'Busy',
            start: new Date(start(at)).toISOString(),
            duration,
            location: { id: here ? 5 : 6 },
            operatory: link(operatory),
            provider: link(provider),
          })),
        ];
        const taken = [
          ...made.appointments.filter(({ status }) => !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(status)),
          // An event of another location's whole is nothing here.
          ...made.events.filter((event) => event.here || event.operatory !== undefined || event.provider !== undefined),
        ].map(
          ({ at, duration, operatory, provider }) =>
            ({ start: start(at), duration, operatory, provider }) as OracleBusy,
        );
        const days = Array.from({ length: made.moreDays + 1 }, (_, n) => dayOf(made.firstDay + n));
        const wanted = templates
          .filter((one) => made.operatories?.includes(one.operatory) ?? true)
          .filter((one) => made.providers?.includes(one.provider) ?? true)
          .filter((one) => made.types?.some((type) => one.bookingTypes.includes(type)) ?? true)
          .filter((one) => made.reasons?.some((id) => one.reasons.includes(id)) ?? true);
        const practice = await newPractice(service, lines);
        const filter = [
          'location.id==5',
          `startDate==${days[0]}`,
          `endDate==${days.at(-1)}`,
          ...(made.min === undefined ? [] : [`minOpeningLength==${made.min}`]),
          ...list('operatory.id', made.operatories),
          ...list('provider.id', made.providers),
          ...list('booking.type', made.types),
          ...list('reason.id', made.reasons),
        ].join(',');
        const expected = oracleOpenings(wanted, taken, days, instantOf, made.min ?? 0);
        expect(rowsOf(await practice.get('/scheduleopenings', filter))).toEqual(expected);
        slots += expected.flatMap((item) => item.slots).length;
      }),
      { numRuns: 40, seed: 20_260_305 },
    );
    // Otherwise the generated practices would say little.
    expect(slots).toBeGreaterThan(75);
  });
});
