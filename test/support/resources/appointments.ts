import { appointmentHistories } from '../../../src/catalog/resources/appointmenthistories.ts';
import { appointments } from '../../../src/catalog/resources/appointments.ts';
import { missedAppointments } from '../../../src/catalog/resources/missedappointments.ts';
import type { WireRecord } from '../calls.ts';
import type { ResourceFixture } from '../fixture.ts';
import { big, ELSEWHERE, LOCATIONS, OPERATORIES, PATIENTS, PROVIDERS } from '../ids.ts';

const link = (id: number) => ({ id });
const EAST = { operatory: link(OPERATORIES.one), location: link(LOCATIONS.east) };
const WEST = { operatory: link(OPERATORIES.three), location: link(LOCATIONS.west) };
const THERE = {
  patient: link(ELSEWHERE.patient),
  provider: link(ELSEWHERE.provider),
  operatory: link(ELSEWHERE.operatory),
  location: link(ELSEWHERE.location),
};

const STATUSES =
  'LATE HERE READY CHAIR COMPLETED CONFIRMED UNCONFIRMED NO_SHOW BROKEN LEFT_MESSAGE CHECKOUT WILL_CALL UNREACHABLE CANCELLEDBYOFFICE';

function appointment(n: number, record: WireRecord): WireRecord {
  return {
    id: big(n),
    start: '2026-03-09T15:00:00.000Z',
    end: '2026-03-09T16:00:00.000Z',
    duration: 60,
    status: 'UNCONFIRMED',
    patient: link(PATIENTS.ann),
    provider: link(PROVIDERS.ann),
    ...EAST,
    asap: false,
    needsFollowUp: false,
    bookedOnline: false,
    created: '2026-01-05T09:00:00.000Z',
    lastModified: `2026-02-${n % 100}T08:00:00.000Z`.replace(/-(\d)T/, '-0$1T'),
    ...record,
  };
}

/** Appointments (specification, Appointment and image attachment; D27). */
export const appointmentFixture: ResourceFixture = {
  resource: appointments,
  records: [
    appointment(701, { note: 'First', bookingType: 'RECARE', reason: link(big(601)) }),
    appointment(702, {
      status: 'COMPLETED',
      start: '2026-02-02T15:00:00.000Z',
      end: '2026-02-02T15:30:00.000Z',
      duration: 30,
    }),
    appointment(703, { status: 'NO_SHOW', patient: link(PATIENTS.bob), asap: true, ...WEST }),
    appointment(704, { status: 'BROKEN', provider: link(PROVIDERS.ben), needsFollowUp: true }),
    appointment(705, {
      operatory: link(OPERATORIES.two),
      asap: true,
      start: '2026-03-09T15:00:00.001Z',
      end: '2026-03-09T16:00:00.001Z',
    }),
    appointment(706, { patient: link(PATIENTS.cleo), ...WEST, confirmed: '2026-03-01T10:00:00.000Z', other: 'Other' }),
  ],
  elsewhere: [appointment(701, THERE), appointment(9701, THERE)],
  meta: 'others',
  create: (n) => ({
    start: new Date(Date.UTC(2026, 5, 1) + n * 3_600_000).toISOString(),
    patient: link(PATIENTS.bob),
    provider: link(PROVIDERS.ben),
    operatory: link(OPERATORIES.two),
  }),
  required: ['start', 'patient', 'provider', 'operatory'],
  update: (n) => ({ note: `Note ${n}`, other: `Other ${n}` }),
  ranges: [['duration', 1, 1440]],
  choices: [
    ['status', STATUSES.split(' ')],
    ['bookingType', ['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT']],
  ],
  links: [
    ['patient', PATIENTS.cleo, ELSEWHERE.patient],
    ['provider', PROVIDERS.ann, ELSEWHERE.provider],
    ['operatory', OPERATORIES.three, ELSEWHERE.operatory],
    ['reason', big(601), big(9601)],
  ],
  lengths: [
    ['note', 0, 10_000],
    ['other', 0, 10_000],
  ],
  dateTimes: ['start', 'confirmed'],
  booleans: ['asap', 'needsFollowUp', 'bookedOnline'],
};

function history(n: number, appointmentId: number, record: WireRecord): WireRecord {
  return {
    id: big(n),
    appointment: link(appointmentId),
    patient: link(PATIENTS.ann),
    provider: link(PROVIDERS.ann),
    ...EAST,
    start: '2026-03-09T15:00:00.000Z',
    duration: 60,
    status: 'UNCONFIRMED',
    action: 'UPDATE',
    created: '2026-02-01T09:00:00.000Z',
    lastModified: `2026-02-01T09:00:00.${String(n % 100).padStart(3, '0')}Z`,
    ...record,
  };
}

/** Appointment histories (D13, D26). */
export const appointmentHistoryFixture: ResourceFixture = {
  resource: appointmentHistories,
  records: [
    history(501, big(701), { action: 'CREATE', note: 'Note', user: { id: 7 } }),
    history(502, big(701), { status: 'CONFIRMED' }),
    history(503, big(702), { action: 'CREATE', lastModified: '2015-01-01T00:00:00.000Z' }),
    history(504, big(703), { ...WEST, action: 'DELETE' }),
    history(505, big(705), { action: 'DELETE' }),
  ],
  elsewhere: [history(501, big(701), THERE), history(9501, big(9701), THERE)],
  meta: 'appointmenthistories',
  countNames: ['totalCount', 'total'],
  always: 'lastModified>=0001-01-01T00:00:00Z',
};

function missed(n: number, appointmentId: number, record: WireRecord): WireRecord {
  return {
    id: big(n),
    appointment: link(appointmentId),
    start: '2026-02-20T15:00:00.000Z',
    duration: 60,
    status: 'BROKEN',
    patient: link(PATIENTS.ann),
    provider: link(PROVIDERS.ann),
    ...EAST,
    ...record,
  };
}

/** Missed appointments (specification, Missed appointment; D28). */
export const missedAppointmentFixture: ResourceFixture = {
  resource: missedAppointments,
  records: [
    missed(551, big(703), { status: 'NO_SHOW', patient: link(PATIENTS.bob), ...WEST, procedures: 'Exam' }),
    missed(552, big(704), { start: '2026-02-20T15:00:00.001Z', other: 'Other', note: 'Note' }),
    missed(553, big(702), { operatory: link(OPERATORIES.two), rescheduledOn: '2026-02-21T10:00:00.000Z' }),
    missed(554, big(706), {
      start: '2020-01-01T00:00:00.000Z',
      reasonCancelled: 'Ill',
      cancelledOn: '2026-02-19T10:00:00.000Z',
    }),
  ],
  elsewhere: [missed(551, big(701), THERE), missed(9551, big(9701), THERE)],
  meta: 'others',
  update: (n) => ({ reasonCancelled: `Reason ${n}`, cancelledOn: new Date(n * 1000).toISOString() }),
};
