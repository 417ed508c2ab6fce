import { asyncOperation, filterKeys, key, reportOperation, resource } from '../define.ts';
import { list, object } from '../fields/composites.ts';
import type { Fields } from '../fields/kind.ts';
import { dollars, id, integer } from '../fields/numbers.ts';
import { text } from '../fields/text.ts';
import { date, dateTime } from '../fields/times.ts';
import {
  choiceValue,
  dateValue,
  dollarsValue,
  idValue,
  integerValue,
  locationValue,
  timeZoneValue,
  yesNoValue,
} from '../filter/values.ts';
import { EQUALS, EQUALS_IN, EQUALS_NOT_IN, IN } from '../operators.ts';
import { readOnly } from '../record.ts';

/** One scheduled appointment of the production report (specification, Production net schedule item; D33). */
export const productionFields = {
  date: readOnly(dateTime(), 'Start of the appointment'),
  scheduledAmount: readOnly(integer(), 'Net scheduled production in cents'),
} as const;

const productionKeys = {
  fromDate: key(EQUALS, dateValue, 'First day', {
    flags: { from: '==' },
    required: true,
    missing: 'fromDate and location.id are required.',
  }),
  'location.id': key(EQUALS_NOT_IN, locationValue, 'Location', { flags: { location: '->' }, willBeRequired: true }),
  'provider.id': key(EQUALS_IN, idValue, 'Provider; not with patient or appointment', { flags: { provider: '->' } }),
  'patient.id': key(EQUALS_IN, idValue, 'Patient; not with provider or appointment', { flags: { patient: '->' } }),
  'appointment.id': key(EQUALS_IN, idValue, 'Appointment; not with provider or patient', {
    flags: { appointment: '->' },
  }),
  range: key(EQUALS, integerValue(1, 31), 'Days, one when not given', { flags: { range: '==' } }),
  timezone: key(EQUALS, timeZoneValue, "Time zone the days are counted in; the location's when not given", {
    flags: { timezone: '==' },
  }),
  isPrimaryWriteOff: key(EQUALS, yesNoValue, 'Deprecated: ignored with a warning'),
};

export const productionFilters = filterKeys(productionKeys);

/** The asynchronous report takes no `!=` on locations (specification, Async endpoints). */
const productionAsyncFilters = filterKeys({
  ...productionKeys,
  'location.id': key(EQUALS_IN, locationValue, 'Location', { flags: { location: '->' }, willBeRequired: true }),
});

export const production = resource({
  name: 'locationproductionnetschedule',
  type: 'LocationProductionNetScheduleV1',
  one: 'production item',
  many: 'production items',
  about: 'Net production scheduled for the next days',
  fields: productionFields,
  filters: productionFilters,
  computed: true,
  locatedBy: [],
  tableColumns: ['date', 'scheduledAmount'],
  operations: {
    report: reportOperation('/locationproductionnetschedule', {
      summary: 'Scheduled net production of a location, appointment by appointment',
      scope: 'practice:read',
      filters: productionFilters,
      filterRequired: true,
      fields: productionFields,
      selectable: true,
    }),
    async: asyncOperation('/locationproductionnetschedule/async', {
      summary: 'First items of the production report, all of them on the streaming channel',
      filters: productionAsyncFilters,
      filterRequired: true,
      fields: productionFields,
    }),
  },
});

const portion = () =>
  object({
    guarantorPortion: readOnly(dollars(), "Patient's share"),
    insurancePortion: readOnly(dollars(), 'Estimated insurance share'),
    writeOff: readOnly(dollars(), 'Write-off'),
  });

/** One guarantor of the aging report (specification, Aging balance report; D34). Dollars. */
export const agingRecordFields: Fields = {
  id: readOnly(text(), 'Guarantor patient id, as text'),
  firstName: readOnly(text(), 'First name'),
  lastName: readOnly(text(), 'Last name'),
  current: readOnly(dollars(), '0–30 days'),
  thirtyDays: readOnly(dollars(), '31–60 days'),
  sixtyDays: readOnly(dollars(), '61–90 days'),
  ninetyDays: readOnly(dollars(), 'More than 90 days'),
  currentPortion: readOnly(portion(), '0–30 days, split'),
  thirtyDaysPortion: readOnly(portion(), '31–60 days, split'),
  sixtyDaysPortion: readOnly(portion(), '61–90 days, split'),
  ninetyDaysPortion: readOnly(portion(), 'More than 90 days, split'),
  balance: readOnly(dollars(), 'All buckets and unapplied credits'),
  guarantorPortionBalance: readOnly(dollars(), "Patient's shares and unapplied credits"),
  insurancePortionBalance: readOnly(dollars(), 'Insurance shares'),
  writeOffBalance: readOnly(dollars(), 'Write-offs'),
  unAppliedCredits: readOnly(dollars(), 'Credits not applied to a charge: negative'),
  claimsPending: readOnly(integer(), 'Number of pending claims, not money'),
};

/** A page of the aging report: sums over its guarantors. Dollars. */
export const agingFields: Fields = {
  currentAmount: readOnly(dollars(), '0–30 days'),
  thirtyDaysAmount: readOnly(dollars(), '31–60 days'),
  sixtyDaysAmount: readOnly(dollars(), '61–90 days'),
  ninetyDaysAmount: readOnly(dollars(), 'More than 90 days'),
  currentPortion: readOnly(portion(), '0–30 days, split'),
  thirtyDaysPortion: readOnly(portion(), '31–60 days, split'),
  sixtyDaysPortion: readOnly(portion(), '61–90 days, split'),
  ninetyDaysPortion: readOnly(portion(), 'More than 90 days, split'),
  totalPortions: readOnly(portion(), 'All buckets, split'),
  total: readOnly(dollars(), 'All buckets'),
  unappliedCreditsAmount: readOnly(dollars(), 'Unapplied credits: negative'),
  balance: readOnly(dollars(), 'Total and unapplied credits'),
  patientReports: readOnly(list(object(agingRecordFields)), 'Guarantors'),
};

const COMPARE = ['==', '!=', '>', '>=', '<', '<='] as const;

export const agingFilters = filterKeys({
  'location.id': key(EQUALS, locationValue, 'Location', { flags: { location: '==' }, required: true }),
  'patient.id': key(IN, idValue, 'Guarantors, 50 at most; or page', { flags: { patient: '->' } }),
  page: key(EQUALS, integerValue(1, Number.MAX_SAFE_INTEGER), 'Page, from 1; or patient.id'),
  balance: key(COMPARE, dollarsValue, 'Balance in dollars'),
  thirtyDays: key(COMPARE, dollarsValue, '31–60 days in dollars'),
  sixtyDays: key(COMPARE, dollarsValue, '61–90 days in dollars'),
  ninetyDays: key(COMPARE, dollarsValue, 'More than 90 days in dollars'),
});

export const aging = resource({
  name: 'agingbalances',
  type: 'AgingBalancesV1',
  one: 'guarantor',
  many: 'guarantors',
  about: 'What guarantors owe, by age',
  fields: agingRecordFields,
  filters: agingFilters,
  computed: true,
  locatedBy: [],
  tableColumns: [
    'id',
    'lastName',
    'firstName',
    'current',
    'thirtyDays',
    'sixtyDays',
    'ninetyDays',
    'unAppliedCredits',
    'balance',
  ],
  operations: {
    report: reportOperation('/agingbalances/report', {
      summary: 'Balances of guarantors by age',
      filters: agingFilters,
      filterRequired: true,
      fields: agingFields,
    }),
  },
});

/** Free slots of a provider in an operatory on a day (specification, Schedule openings; D32). */
export const openingFields: Fields = {
  provider: readOnly(object({ id: readOnly(id(), 'Provider id') }), 'Provider'),
  operatory: readOnly(object({ id: readOnly(id(), 'Operatory id') }), 'Operatory'),
  day: readOnly(date(), 'Day'),
  slots: readOnly(
    list(
      object({
        start: readOnly(dateTime(), 'Start'),
        end: readOnly(dateTime(), 'End'),
        scheduleTemplateBookingType: readOnly(list(object({ id: readOnly(text(), 'Booking type') })), 'Booking types'),
        scheduleTemplateReason: readOnly(list(object({ id: readOnly(id(), 'Reason id') })), 'Reasons'),
      }),
    ),
    'Free slots',
  ),
};

export const openingFilters = filterKeys({
  'location.id': key(EQUALS, idValue, 'Location', { flags: { location: '==' }, required: true }),
  startDate: key(EQUALS, dateValue, 'First day', { flags: { from: '==' }, required: true }),
  endDate: key(EQUALS, dateValue, 'Last day, 92 days at most', { flags: { to: '==' }, required: true }),
  'operatory.id': key(EQUALS_IN, idValue, 'Operatory', { flags: { operatory: '->' } }),
  'provider.id': key(EQUALS_IN, idValue, 'Provider', { flags: { provider: '->' } }),
  minOpeningLength: key(EQUALS, integerValue(5, 1440), 'Shortest slot in minutes', { flags: { 'min-length': '==' } }),
  'booking.type': key(
    EQUALS_IN,
    choiceValue(['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT']),
    'Booking type',
    {
      flags: { 'booking-type': '->' },
    },
  ),
  'reason.id': key(EQUALS_IN, idValue, 'Schedule template reason', { flags: { reason: '->' } }),
});

export const openings = resource({
  name: 'scheduleopenings',
  type: 'ScheduleOpeningsV1',
  one: 'schedule opening',
  many: 'schedule openings',
  about: 'Free slots of the schedule',
  fields: openingFields,
  filters: openingFilters,
  computed: true,
  locatedBy: [],
  tableColumns: ['day', 'provider', 'operatory', 'slots'],
  operations: {
    list: reportOperation('/scheduleopenings', {
      summary: 'List free slots',
      filters: openingFilters,
      filterRequired: true,
      fields: openingFields,
    }),
  },
});
