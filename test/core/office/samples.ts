import type { OfficeColumn, OfficeKind } from '../../../src/core/office/report.ts';
import type { OfficeResult, OfficeRow } from '../../../src/core/office/result.ts';
import { LocalClock } from '../../../src/core/output/localclock.ts';

const DENVER = new LocalClock('America/Denver');
const CHICAGO = new LocalClock('America/Chicago');

/** Columns by name, with their kinds. */
export function columnsBy(kinds: Readonly<Record<string, OfficeKind>>): OfficeColumn[] {
  return Object.entries(kinds).map(([name, kind]) => ({ name, kind }));
}

const PATIENT = { 'patient.id': 'id', 'patient.firstName': 'text', 'patient.lastName': 'text' } as const;
const PHONES = { phone: 'text', phone_2: 'text', phone_3: 'text', 'phoneOf.id': 'id' } as const;

/** A schedule of three appointments in two zones: one over midnight, one in an hour that comes twice. */
export const SCHEDULE: OfficeResult = {
  title: 'Schedule',
  filters: [
    { label: 'Days', text: '2026-10-31 to 2026-11-01' },
    { label: 'Locations', text: '<all> & "none"' },
  ],
  columns: columnsBy({
    date: 'date',
    start: 'instant',
    end: 'instant',
    duration: 'minutes',
    'location.id': 'id',
    'location.name': 'text',
    ...PATIENT,
    'patient.dateOfBirth': 'date',
    ...PHONES,
    status: 'text',
    note: 'text',
    asap: 'boolean',
    id: 'id',
  }),
  rows: [
    {
      date: '2026-10-31',
      start: '2026-11-01T05:00:00.000Z',
      end: '2026-11-01T06:30:00.000Z',
      duration: 90n,
      'location.id': 5n,
      'location.name': 'Main Street',
      'patient.id': 9007199254740993n,
      'patient.firstName': 'Ana',
      'patient.lastName': 'Garcia',
      'patient.dateOfBirth': '1980-02-29',
      phone: '(555) 010-0142',
      phone_2: '0155',
      phone_3: null,
      'phoneOf.id': 9007199254740993n,
      status: 'UNCONFIRMED',
      note: '=1+1 <b>bold</b>',
      asap: 1,
      id: 1,
    },
    {
      date: '2026-11-01',
      start: '2026-11-01T07:30:00.000Z',
      end: '2026-11-01T09:30:00.000Z',
      duration: 120,
      'location.id': 5n,
      'location.name': null,
      'patient.id': 12,
      'patient.firstName': null,
      'patient.lastName': null,
      'patient.dateOfBirth': null,
      phone: '0177',
      phone_2: null,
      phone_3: null,
      'phoneOf.id': 14,
      status: 'CONFIRMED',
      note: null,
      asap: 0,
      id: 2,
    },
    { date: '2026-11-01', start: '2026-11-01T15:00:00.000Z', 'location.id': 6, id: 3 },
  ],
  totals: { count: 3, patients: 2 },
  check: null,
  made: { at: Date.UTC(2026, 9, 31, 14, 5), clock: DENVER },
  clockOf: (row) => (row['location.id'] === 6 ? CHICAGO : DENVER),
};

function guarantor(at: number): OfficeRow {
  return {
    'patient.id': 7000000000000 + at,
    'patient.firstName': at % 2 === 0 ? 'Ana' : 'Maria Jose',
    'patient.lastName': at % 2 === 0 ? 'Garcia' : 'Featherstonehaugh-Montgomery-of-the-longest-name-there-is',
    phone: '(555) 010-0142',
    phone_2: '(555) 010-0143',
    'phoneOf.id': 7000000000000 + at,
    emailAddress: 'a.rather.long.address@a-rather-long-domain.example',
    currentCents: 5,
    thirtyDaysCents: 123_456,
    sixtyDaysCents: 0,
    ninetyDaysCents: 1_000_000,
    unAppliedCreditsCents: -50,
    balanceCents: 1_123_411,
    guarantorPortionBalanceCents: 1_123_411,
    insurancePortionBalanceCents: 0,
    writeOffBalanceCents: 0,
    overdueCents: 1_000_000,
    claimsPending: 2,
    lastPaymentDate: '2026-10-05',
    lastPaymentCents: null,
    nextVisit: '2026-11-30T16:00:00.000Z',
    'nextVisitPatient.id': 7000000000001,
  };
}

const MONEY = {
  currentCents: 'cents',
  thirtyDaysCents: 'cents',
  sixtyDaysCents: 'cents',
  ninetyDaysCents: 'cents',
  unAppliedCreditsCents: 'cents',
  balanceCents: 'cents',
  guarantorPortionBalanceCents: 'cents',
  insurancePortionBalanceCents: 'cents',
  writeOffBalanceCents: 'cents',
  overdueCents: 'cents',
} as const;

/** Thirty of forty guarantors, the widest report there is. */
export const COLLECTIONS: OfficeResult = {
  title: 'Collections',
  filters: [{ label: 'Over', text: '90 days' }],
  columns: columnsBy({
    ...PATIENT,
    ...PHONES,
    emailAddress: 'text',
    ...MONEY,
    claimsPending: 'count',
    lastPaymentDate: 'date',
    lastPaymentCents: 'cents',
    nextVisit: 'instant',
    'nextVisitPatient.id': 'id',
  }),
  rows: Array.from({ length: 30 }, (_, at) => guarantor(at)),
  totals: {
    count: 40,
    ...Object.fromEntries(Object.keys(MONEY).map((name) => [name, Number(guarantor(0)[name]) * 40])),
    lastPaymentCents: 0,
  },
  check: { agrees: true, expectedCents: 44_936_440, gotCents: 44_936_440, differenceCents: 0 },
  made: SCHEDULE.made,
  clockOf: () => DENVER,
  picture: {
    title: 'Balance by age',
    bars: 'rows',
    of: [
      { label: '0-30', cents: 200 },
      { label: 'over 90', cents: 600 },
    ],
  },
};

/** Three rows of a day sheet, with all that its totals have. */
export const DAY_SHEET: OfficeResult = {
  title: 'Day sheet',
  filters: [{ label: 'Day', text: '2026-10-31' }],
  columns: columnsBy({ id: 'id', transactionDate: 'date', ledgerType: 'text', amountCents: 'cents' }),
  rows: [
    { id: 1, transactionDate: '2026-10-31', ledgerType: 'PatientProcedureLedger', amountCents: 1010n },
    { id: 2, transactionDate: '2026-10-31', ledgerType: 'PatientProcedureLedger', amountCents: 2020 },
    { id: 3, transactionDate: '2026-10-31', ledgerType: 'InsurancePayment', amountCents: -29 },
  ],
  totals: {
    count: 3,
    amountCents: 3001,
    chargesCents: 3030,
    creditsCents: -29,
    byLedgerType: {
      InsurancePayment: { count: 1, amountCents: -29 },
      PatientProcedureLedger: { count: 2, amountCents: 3030 },
    },
  },
  check: null,
  made: SCHEDULE.made,
  clockOf: () => DENVER,
};
