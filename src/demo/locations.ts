import { utcStart, type ZoneClock } from './calendar.ts';
import type { Ids } from './ids.ts';
import { STAFF } from './names.ts';
import { DISTRICTS, TOWNS, type Town } from './places.ts';
import { Random } from './random.ts';
import { HALF_DAY, type Hours, SlotWindow, workingDays } from './schedule.ts';
import { FUTURE_DAYS, PAST_DAYS, type SizePlan } from './sizes.ts';

export type Role = 'dentist' | 'hygienist' | 'left' | 'clinic';

export interface ProviderPlan {
  readonly id: number;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  /** Days away; nothing is booked on them. */
  readonly away: readonly number[];
}

/** Why people come, and the kind of booking it stands for. */
export interface ReasonPlan {
  readonly id: number;
  readonly reason: string;
  readonly durationMinutes: number;
  readonly isFor: 'RECARE' | 'TREATMENT' | 'NEW_PATIENT';
}

const REASONS = [
  { reason: 'Cleaning and exam', durationMinutes: 60, isFor: 'RECARE' },
  { reason: 'Filling or crown', durationMinutes: 60, isFor: 'TREATMENT' },
  { reason: 'Toothache', durationMinutes: 30, isFor: 'TREATMENT' },
  { reason: 'First visit', durationMinutes: 60, isFor: 'NEW_PATIENT' },
] as const;

/** An operatory is where one provider works every day, so that neither is ever booked twice. */
export interface OperatoryPlan {
  readonly id: number;
  readonly name: string;
  readonly provider: ProviderPlan;
}

export interface LocationPlan {
  readonly id: number;
  readonly name: string;
  readonly town: Town;
  readonly clock: ZoneClock;
  readonly hours: Hours;
  /** 0 for Sunday to 6 for Saturday. */
  readonly weekdays: readonly number[];
  readonly providers: readonly ProviderPlan[];
  readonly operatories: readonly OperatoryPlan[];
  readonly reasons: readonly ReasonPlan[];
  /** Of the usual fee. */
  readonly feePercent: number;
  /** Slots before today, in the two weeks from today, and after them. */
  readonly past: SlotWindow;
  readonly soon: SlotWindow;
  readonly later: SlotWindow;
}

export interface LocationInput {
  readonly index: number;
  readonly seed: number;
  readonly today: number;
  readonly plan: SizePlan;
  readonly ids: Ids;
  readonly closed: ReadonlySet<number>;
  readonly clockOf: (zone: string) => ZoneClock;
}

const WEEKS: readonly (readonly number[])[] = [
  [1, 2, 3, 4, 5],
  [1, 2, 3, 4],
  [1, 2, 3, 4, 5, 6],
  [2, 3, 4, 5],
];

const OPENS: readonly Hours[] = [
  { morning: 480, afternoon: 780 },
  { morning: 420, afternoon: 720 },
  { morning: 540, afternoon: 840 },
];

/** Plans one location: name, staff, hours and the slots that can be booked there. */
export function planLocation(input: LocationInput): LocationPlan {
  const { index, seed, today, plan, ids, closed } = input;
  const random = new Random(seed, 11, index);
  const town = TOWNS[index % TOWNS.length] as Town;
  const district = DISTRICTS[Math.floor(index / TOWNS.length) % DISTRICTS.length] ?? '';
  const roles: Role[] = [
    ...Array.from({ length: plan.dentists }, () => 'dentist' as const),
    ...Array.from({ length: plan.hygienists }, () => 'hygienist' as const),
    'left',
    'clinic',
  ];
  const name = `${town.name}${district}`;
  const providers = roles.map((role) => planProvider(role, name, today, ids, random));
  const operatories = providers
    .filter(({ role }) => role === 'dentist' || role === 'hygienist')
    .map((provider, at) => ({ id: ids.next('Operatory'), name: `Operatory ${at + 1}`, provider }));
  const weekdays = WEEKS[index % WEEKS.length] as readonly number[];
  const hours = OPENS[index % OPENS.length] as Hours;
  const window = (first: number, last: number, share: number) => {
    const days = operatories.map(({ provider }) =>
      workingDays(first, last, weekdays, new Set([...closed, ...provider.away])),
    );
    return new SlotWindow(days, hours, share);
  };
  const clock = input.clockOf(town.timezone);
  // In the west yesterday's last visits end after midnight UTC; a day counts as past once it is over by then.
  const over = clock.at(today - 1, hours.afternoon + HALF_DAY) <= utcStart(today);
  return {
    id: ids.next('Location'),
    name: `${name} Dental`,
    town,
    clock,
    hours,
    weekdays,
    providers,
    operatories,
    reasons: REASONS.map((reason) => ({ ...reason, id: ids.next('ScheduleTemplateReasonV1') })),
    feePercent: 90 + (index % 7) * 5,
    past: window(today - PAST_DAYS, over ? today - 1 : today - 2, 0.95),
    soon: window(today, today + 13, 0.8),
    later: window(today + 14, today + FUTURE_DAYS, 0.5),
  };
}

function planProvider(role: Role, place: string, today: number, ids: Ids, random: Random): ProviderPlan {
  const id = ids.next('Provider');
  if (role === 'clinic') return { id, firstName: place, lastName: 'Imaging Center', role, away: [] };
  const firstName = random.pick(random.chance(0.5) ? STAFF.female : STAFF.male);
  const lastName = random.pick(STAFF.last);
  if (role === 'left') return { id, firstName, lastName, role, away: [] };
  const weeks = [random.between(-700, -380), random.between(-340, -30), random.between(20, FUTURE_DAYS)];
  const away = weeks.flatMap((start) => Array.from({ length: 5 }, (_, day) => today + start + day));
  return { id, firstName, lastName, role, away };
}
