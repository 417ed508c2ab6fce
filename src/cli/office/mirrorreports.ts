import { APPOINTMENT_STATUSES } from '../../catalog/resources/appointments.ts';
import { patientFields } from '../../catalog/resources/patients.ts';
import { usageFailure } from '../../core/failure.ts';
import { adjustments } from '../../core/office/definitions/adjustments.ts';
import { birthdays } from '../../core/office/definitions/birthdays.ts';
import { callList, UNCONFIRMED } from '../../core/office/definitions/calllist.ts';
import { daySheet } from '../../core/office/definitions/daysheet.ts';
import { deposits } from '../../core/office/definitions/deposits.ts';
import { missingContacts } from '../../core/office/definitions/missingcontacts.ts';
import { missingDocuments } from '../../core/office/definitions/missingdocuments.ts';
import { noShows } from '../../core/office/definitions/noshows.ts';
import { recall } from '../../core/office/definitions/recall.ts';
import { type ScheduleOptions, schedule } from '../../core/office/definitions/schedule.ts';
import { type FlagValues, isOn, textFlag, textFlags, wholeNumber } from '../flags/values.ts';
import { asking, mirrorReport, readWords } from './spec.ts';

const { text, list, toggle } = asking;

/** A flag for a day, which may be relative to today. */
const day = (about: string) => text('DATE', about, { means: 'date' });
const date = (usual: string) => day(`First day, ${usual} when not given; such as 2026-11-24, monday or -1w`);
const days = (usual: number) => text('N', `How many days, ${usual} when not given`);
const from = (usual: string) => day(`First day, ${usual} when not given; such as 2026-11-01 or month-start`);
/** Repeatable, since `--split-by` has a `--to` of its own, which is a folder. */
const to = (about: string) =>
  list('DATE|DIR', `${about}; with --split-by, also the folder of the files`, { means: 'date' });
const patientStatus = list('A,B', 'Patients in these statuses, NEW and ACTIVE when not given');

const PATIENT_STATUSES = patientFields.patientStatus.kind.values ?? [];
const CURRENT = ['NEW', 'ACTIVE'];

const patientStatuses = (flags: FlagValues) => readWords(flags, 'patient-status', PATIENT_STATUSES) ?? CURRENT;

export const scheduleReport = mirrorReport(schedule, {
  title: 'Schedule',
  many: 'appointments',
  flags: {
    date: date('today'),
    days: days(1),
    by: text(undefined, 'Order within a location, operatory when not given', { options: ['operatory', 'provider'] }),
    'all-statuses': toggle('Broken, missed and cancelled appointments, too'),
  },
  resources: ['appointments', 'patients'],
  read: (flags, reader) => {
    const { from: first, to: last, days: count } = reader.span('date', 'today', 1);
    const by: ScheduleOptions['by'] = textFlag(flags, 'by') === 'provider' ? 'provider' : 'operatory';
    const allStatuses = isOn(flags, 'all-statuses');
    return {
      options: { from: first, to: last, by, allStatuses },
      filters: { date: first, days: count, by, allStatuses },
    };
  },
});

export const callListReport = mirrorReport(callList, {
  title: 'Call list',
  many: 'appointments',
  flags: {
    date: date('tomorrow'),
    days: days(1),
    status: list('A,B', `Appointments in these statuses; ${UNCONFIRMED.join(', ')} when not given`),
  },
  resources: ['appointments', 'patients'],
  read: (flags, reader) => {
    const { from: first, to: last, days: count } = reader.span('date', 'tomorrow', 1);
    const statuses = readWords(flags, 'status', APPOINTMENT_STATUSES) ?? UNCONFIRMED;
    return { options: { from: first, to: last, statuses }, filters: { date: first, days: count, status: statuses } };
  },
});

/** Months of a recall at most: a century. */
const MAX_MONTHS = 1200;

export const recallReport = mirrorReport(recall, {
  title: 'Recall',
  many: 'patients',
  flags: {
    months: text('N', 'Last seen so many months ago or earlier, 6 when not given'),
    'include-never-seen': toggle('Patients who were never seen, too; they come last'),
    'patient-status': patientStatus,
  },
  resources: ['patients', 'appointments', 'transactions'],
  read: (flags, { today }) => {
    const months = wholeNumber(flags, 'months', 1, MAX_MONTHS) ?? 6;
    const includeNeverSeen = isOn(flags, 'include-never-seen');
    const statuses = patientStatuses(flags);
    return {
      options: { months, includeNeverSeen, patientStatuses: statuses },
      filters: { today, months, includeNeverSeen, patientStatus: statuses },
    };
  },
});

const MISSED = ['NO_SHOW', 'BROKEN'];

export const noShowsReport = mirrorReport(noShows, {
  title: 'No-shows',
  many: 'missed appointments',
  flags: {
    from: from('30 days ago'),
    to: to('Last day, today when not given'),
    status: list('A,B', 'NO_SHOW, BROKEN, or both; both when not given'),
    'include-rebooked': toggle('Those that were booked again, too'),
  },
  resources: ['missedappointments', 'appointments', 'patients'],
  read: (flags, reader) => {
    const range = reader.range('-30d');
    const statuses = readWords(flags, 'status', MISSED) ?? MISSED;
    const includeRebooked = isOn(flags, 'include-rebooked');
    return {
      options: { ...range, statuses, includeRebooked },
      filters: { ...range, status: statuses, includeRebooked },
    };
  },
});

export const daySheetReport = mirrorReport(daySheet, {
  title: 'Day sheet',
  many: 'ledger rows',
  flags: {
    date: date('today'),
    days: days(1),
    'by-entry': toggle('By the day of entry in place of the transaction date'),
  },
  resources: ['transactions', 'patients'],
  read: (flags, reader) => {
    const { from: first, to: last, days: count } = reader.span('date', 'today', 1);
    const byEntry = isOn(flags, 'by-entry');
    return { options: { from: first, to: last, byEntry }, filters: { date: first, days: count, byEntry } };
  },
});

export const depositsReport = mirrorReport(deposits, {
  title: 'Deposits',
  many: 'deposits and refunds',
  flags: {
    date: day('The day, today when not given; or --from and --to'),
    from: day('First day; with --to'),
    to: to('Last day; with --from'),
  },
  resources: ['transactions', 'patients'],
  read: (_, reader) => {
    const [single, first, last] = [reader.given('date'), reader.given('from'), reader.given('to')];
    if (single !== undefined && (first !== undefined || last !== undefined)) {
      throw usageFailure('--date is one day, and --from with --to are several; give one or the other.', {
        source: '--date',
      });
    }
    if ((first === undefined) !== (last === undefined)) {
      const [given, missing] = first === undefined ? ['--to', '--from'] : ['--from', '--to'];
      throw usageFailure(`${given} goes with ${missing}; for one day give --date.`, { source: given });
    }
    const only = single ?? reader.today;
    const range = first === undefined ? { from: only, to: only } : reader.range('today');
    return { options: range, filters: { ...range } };
  },
});

export const adjustmentsReport = mirrorReport(adjustments, {
  title: 'Adjustments',
  many: 'adjustments',
  flags: { from: from('30 days ago'), to: to('Last day, today when not given') },
  resources: ['transactions', 'transactiontags', 'patients'],
  read: (_, reader) => {
    const range = reader.range('-30d');
    return { options: range, filters: { ...range } };
  },
});

export const birthdaysReport = mirrorReport(birthdays, {
  title: 'Birthdays',
  many: 'patients',
  flags: { from: from('today'), days: days(7), 'patient-status': patientStatus },
  resources: ['patients'],
  read: (flags, reader) => {
    const { from: first, to: last, days: count } = reader.span('from', 'today', 7);
    const statuses = patientStatuses(flags);
    return {
      options: { from: first, to: last, patientStatuses: statuses },
      filters: { from: first, to: last, days: count, patientStatus: statuses },
    };
  },
});

export const missingContactsReport = mirrorReport(missingContacts, {
  title: 'Missing contacts',
  many: 'patients',
  flags: {
    require: list('A,B', 'What has to be there: phone, email, or both; both when not given'),
    'patient-status': patientStatus,
  },
  resources: ['patients'],
  read: (flags) => {
    const required = (readWords(flags, 'require', ['phone', 'email']) ?? ['phone', 'email']) as ('phone' | 'email')[];
    const statuses = patientStatuses(flags);
    return {
      options: { require: required, patientStatuses: statuses },
      filters: { require: required, patientStatus: statuses },
    };
  },
});

export const missingDocumentsReport = mirrorReport(missingDocuments, {
  title: 'Missing documents',
  many: 'patients',
  flags: {
    tag: list('TAG', 'Tag that a document has to have, such as Consent; may be repeated', { required: true }),
    since: day('Only documents dated on or after this day count'),
    'patient-status': patientStatus,
  },
  resources: ['patients', 'documents'],
  read: (flags, reader) => {
    const tags = [...new Set(textFlags(flags, 'tag').map((tag) => tag.trim()))];
    if (tags.includes('')) throw usageFailure('--tag must name a tag, such as Consent.', { source: '--tag' });
    const since = reader.given('since') ?? null;
    const statuses = patientStatuses(flags);
    return {
      options: { tags, since, patientStatuses: statuses },
      filters: { tag: tags, since, patientStatus: statuses },
    };
  },
});
