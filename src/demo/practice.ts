import { isDate } from '../catalog/fields/times.ts';
import { dayOf, holidaysBetween, utcStart, zoneClock } from './calendar.ts';
import { STAFF } from './names.ts';
import { DISTRICTS, TOWNS, type Town } from './places.ts';
import { Random } from './random.ts';
import { HALF_DAY, SlotWindow, workingDays } from './schedule.ts';

/** The three practices: patients in all, locations, staff of each location, and at most how many documents. */
export const SIZES = {
  small: { patients: 2_000, locations: 2, dentists: 1, hygienists: 1, documents: 2_000 },
  medium: { patients: 60_000, locations: 10, dentists: 2, hygienists: 3, documents: 2_000 },
  large: { patients: 500_000, locations: 60, dentists: 3, hygienists: 3, documents: 2_000 },
} as const;

/** Name of a practice's size. */
export type Size = keyof typeof SIZES;

/** What a practice is made from. */
export interface DemoOptions {
  /** Another seed gives another practice; 1 when not given. */
  readonly seed?: number;
  /** `YYYY-MM-DD`, the UTC date on which the practice is looked at: everything that has happened lies before it. */
  readonly today: string;
  readonly organizationId?: string;
}

/** One record in the import format (contract §7): its type, its organization and its fields by their wire names. */
export interface DemoRecord {
  readonly type: string;
  readonly organizationId: string;
  readonly id: number | string;
  readonly [field: string]: unknown;
}

/** Id of the demo practice's organization, unless another one is given. */
export const DEMO_ORGANIZATION_ID = '64f1c0ffee5eed0000de0a01';

/** Days of ledger and visits before today. */
export const PAST_DAYS = 730;

/** Days of booked visits after today. */
const FUTURE_DAYS = 91;

/** First id of each kind: 13 or 14 digits as seen in the wild (D1), far enough apart for the largest practice. */
export const FIRST_ID = {
  Location: 1_000_000_000_001,
  Provider: 1_100_000_000_001,
  Operatory: 1_200_000_000_001,
  BillingType: 1_300_000_000_001,
  DiscountPlan: 1_400_000_000_001,
  Referral: 1_500_000_000_001,
  PerioExam: 1_600_000_000_001,
  ScheduleTemplateReasonV1: 1_700_000_000_001,
  ScheduleTemplateV1: 1_800_000_000_001,
  TransactionTagV1: 1_900_000_000_001,
  InsuranceClaim: 2_000_000_000_001,
  PatientInsurancePlanV1: 2_100_000_000_001,
  SubscriberInsurancePlan: 2_200_000_000_001,
  PatientProcedure: 2_300_000_000_001,
  InsurancePayment: 2_400_000_000_001,
  EventV1: 3_000_000_000_001,
  ImageAttachmentV1: 3_100_000_000_001,
  MissedAppointmentV1: 3_200_000_000_001,
  AppointmentV1: 5_000_000_000_001,
  PatientV1: 7_000_000_000_001,
  DocumentV1: 8_000_000_000_001,
  Transaction: 9_000_000_000_001,
  AppointmentHistoryV1: 10_000_000_000_001,
} as const;

type NumberedKind = keyof typeof FIRST_ID;

/**
 * What does not grow with the number of patients: the organization, its locations, their staff and hours. Two practices
 * of the same size and options book the same slots and allocate the same ids. Throws when `today` is no date.
 */
export class Practice {
  readonly organizationId: string;
  readonly seed: number;
  readonly patients: number;
  readonly documents: number;
  readonly today: number;
  readonly holidays: ReturnType<typeof holidaysBetween>;
  readonly locations: readonly LocationPlan[];
  readonly #ids = new Map<NumberedKind, number>();

  constructor(size: Size, { organizationId = DEMO_ORGANIZATION_ID, seed = 1, today }: DemoOptions) {
    if (!isDate(today)) throw new Error(`today must be a date written YYYY-MM-DD, not ${today}.`);
    const { patients, documents, locations } = SIZES[size];
    this.organizationId = organizationId;
    this.seed = seed | 0;
    this.patients = patients;
    this.documents = documents;
    this.today = dayOf(today);
    this.holidays = holidaysBetween(this.today - PAST_DAYS, this.today + 366);
    this.locations = Array.from({ length: locations }, (_, index) => planLocation(this, SIZES[size], index));
  }

  /** Allocates the ids of a kind in ascending order. */
  nextId(kind: NumberedKind): number {
    const id = this.#ids.get(kind) ?? FIRST_ID[kind];
    this.#ids.set(kind, id + 1);
    return id;
  }
}

/** A location: its town, staff, hours and the slots that can be booked there. */
export type LocationPlan = ReturnType<typeof planLocation>;

/** An operatory is where one provider works every day, so that neither is ever booked twice. */
export type OperatoryPlan = LocationPlan['operatories'][number];

/** What a provider is; `left` is somebody who no longer works there. */
export type StaffRole = 'dentist' | 'hygienist' | 'left' | 'clinic';

const WEEKS = [
  [1, 2, 3, 4, 5],
  [1, 2, 3, 4],
  [1, 2, 3, 4, 5, 6],
  [2, 3, 4, 5],
];

const OPENS = [
  { morning: 480, afternoon: 780 },
  { morning: 420, afternoon: 720 },
  { morning: 540, afternoon: 840 },
] as const;

/** Why people come, and the kind of booking it stands for. */
const REASONS = [
  { reason: 'Cleaning and exam', durationMinutes: 60, isFor: 'RECARE' },
  { reason: 'Filling or crown', durationMinutes: 60, isFor: 'TREATMENT' },
  { reason: 'Toothache', durationMinutes: 30, isFor: 'TREATMENT' },
  { reason: 'First visit', durationMinutes: 60, isFor: 'NEW_PATIENT' },
] as const;

function planLocation(practice: Practice, plan: (typeof SIZES)[Size], index: number) {
  const { today } = practice;
  const random = new Random(practice.seed, 11, index);
  const town = TOWNS[index % TOWNS.length] as Town;
  const name = `${town.name}${DISTRICTS[Math.floor(index / TOWNS.length) % DISTRICTS.length]}`;
  const roles = [
    ...Array(plan.dentists).fill('dentist'),
    ...Array(plan.hygienists).fill('hygienist'),
    'left',
    'clinic',
  ];
  const providers = roles.map((role: StaffRole) => planProvider(practice, role, name, random));
  const operatories = providers
    .filter(({ role }) => role === 'dentist' || role === 'hygienist')
    .map((provider, at) => ({ id: practice.nextId('Operatory'), name: `Operatory ${at + 1}`, provider }));
  /** 0 for Sunday to 6 for Saturday. */
  const weekdays = WEEKS[index % WEEKS.length] as number[];
  const hours = OPENS[index % OPENS.length] as (typeof OPENS)[number];
  const window = (first: number, last: number, share: number) => {
    const days = operatories.map(({ provider }) => {
      const closed = new Set([...practice.holidays.map(({ day }) => day), ...provider.away]);
      return workingDays(first, last, weekdays, closed);
    });
    return new SlotWindow(days, hours, share);
  };
  const clock = zoneClock(town.timezone);
  // In the west yesterday's last visits end after midnight UTC; a day counts as past once it is over by then.
  const over = clock.at(today - 1, hours.afternoon + HALF_DAY) <= utcStart(today);
  return {
    id: practice.nextId('Location'),
    name: `${name} Dental`,
    town,
    clock,
    hours,
    weekdays,
    providers,
    operatories,
    reasons: REASONS.map((reason) => ({ ...reason, id: practice.nextId('ScheduleTemplateReasonV1') })),
    /** Of the usual fee. */
    feePercent: 90 + (index % 7) * 5,
    /** Slots before today, in the two weeks from today, and after them. */
    past: window(today - PAST_DAYS, over ? today - 1 : today - 2, 0.95),
    soon: window(today, today + 13, 0.8),
    later: window(today + 14, today + FUTURE_DAYS, 0.5),
  };
}

/** Somebody who treats patients, or the clinic itself; nothing is booked on the days `away`. */
function planProvider(practice: Practice, role: StaffRole, location: string, random: Random) {
  const id = practice.nextId('Provider');
  if (role === 'clinic') return { id, firstName: location, lastName: 'Imaging Center', role, away: [] };
  const firstName = random.pick(random.chance(0.5) ? STAFF.female : STAFF.male);
  const lastName = random.pick(STAFF.last);
  if (role === 'left') return { id, firstName, lastName, role, away: [] };
  const weeks = [random.between(-700, -380), random.between(-340, -30), random.between(20, FUTURE_DAYS)];
  const away = weeks.flatMap((start) => Array.from({ length: 5 }, (_, day) => practice.today + start + day));
  return { id, firstName, lastName, role, away };
}
