import { dateText, instantText, timeText, utcStart, WEEKDAYS } from './calendar.ts';
import { type DemoRecord, FIRST_ID, type LocationPlan, PAST_DAYS, type Practice } from './practice.ts';
import { HALF_DAY } from './schedule.ts';

const CREATED_DAYS_AGO = 4_000;

/** Lists of the organization that patients choose from, by kind. */
export const LISTS = {
  BillingType: ['Standard', 'Payment plan', 'Collections', 'Courtesy', 'Staff and family'],
  DiscountPlan: ['Smile Saver', 'Senior', 'New neighbor'],
  Referral: ['Web search', 'Insurance directory', 'Drive-by', 'Brightwater Orthodontics', 'School fair'],
} as const;

const TAGS = [
  { tagText: 'Cash', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Check', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Credit card', tagType: 'PAYMENT_TAG', isPredefined: true },
  { tagText: 'Online payment', tagType: 'PAYMENT_TAG', isPredefined: false },
  { tagText: 'Care financing', tagType: 'PAYMENT_TAG', isPredefined: false },
  { tagText: 'Insurance write-off', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Courtesy discount', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Missed visit fee', tagType: 'ADJUSTMENT_TAG', isPredefined: false },
  { tagText: 'Uncollectible', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Refund', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
  { tagText: 'Transfer to guarantor', tagType: 'ADJUSTMENT_TAG', isPredefined: true },
] as const;

/** Text of a transaction tag. */
export type TagText = (typeof TAGS)[number]['tagText'];

/** One tag of a transaction, under its order index (D24). */
export function tagged(text: TagText): Record<string, { id: number }> {
  return { '1': { id: FIRST_ID.TransactionTagV1 + TAGS.findIndex(({ tagText }) => tagText === text) } };
}

/** The organization and the kinds that patients and activity link to (contract §7). */
export function* referenceRecords(practice: Practice): Generator<DemoRecord> {
  const { organizationId, locations } = practice;
  yield {
    type: 'Organization',
    organizationId,
    id: organizationId,
    name: 'Bright Harbor Dental Group',
    timezone: locations[0]?.town.timezone ?? 'UTC',
    createdDate: instantText(utcStart(practice.today - CREATED_DAYS_AGO)),
  };
  for (const kind of ['BillingType', 'DiscountPlan', 'Referral'] as const)
    for (const name of LISTS[kind]) yield { type: kind, organizationId, id: practice.nextId(kind), name };
  for (const location of locations) yield* locationRecords(practice, location);
}

function* locationRecords({ organizationId }: Practice, location: LocationPlan): Generator<DemoRecord> {
  const { id, name, town, providers, operatories } = location;
  yield { type: 'Location', organizationId, id, name, timezone: town.timezone };
  for (const { role, away: _, ...provider } of providers) {
    const [isActive, isNonPersonEntity] = [role !== 'left', role === 'clinic'];
    yield { type: 'Provider', organizationId, ...provider, isActive, isNonPersonEntity };
  }
  for (const { provider: _, ...operatory } of operatories) {
    yield { type: 'Operatory', organizationId, ...operatory, location: { id } };
  }
}

/** The organization's transaction tags (specification, Transaction tag). */
export function* tagRecords(practice: Practice): Generator<DemoRecord> {
  const { organizationId } = practice;
  for (const tag of TAGS) {
    yield { type: 'TransactionTagV1', organizationId, id: practice.nextId('TransactionTagV1'), ...tag };
  }
}

/** A location's reasons for visits and the hours of its operatories (D31): what openings are computed from. */
export function* templateRecords(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  const { organizationId } = practice;
  const { reasons, operatories, weekdays, hours } = location;
  for (const { isFor: _, id, ...reason } of reasons) {
    yield { type: 'ScheduleTemplateReasonV1', organizationId, id, ...reason, location: { id: location.id } };
  }
  for (const { id, provider } of operatories) {
    const usual = provider.role === 'hygienist' ? 'RECARE' : 'TREATMENT';
    const fitting = reasons.filter(({ isFor }) => isFor === usual || isFor === 'NEW_PATIENT');
    const halves = weekdays.flatMap((weekday) => Object.values(hours).map((start) => ({ weekday, start })));
    for (const { weekday, start } of halves) {
      yield {
        type: 'ScheduleTemplateV1',
        organizationId,
        id: practice.nextId('ScheduleTemplateV1'),
        location: { id: location.id },
        operatory: { id },
        provider: { id: provider.id },
        dayOfWeek: WEEKDAYS[weekday],
        start: timeText(start),
        end: timeText(start + HALF_DAY),
        // New patients are seen in the mornings.
        bookingTypes: start < 720 ? [usual, 'NEW_PATIENT', 'EXISTING_PATIENT'] : [usual, 'EXISTING_PATIENT'],
        reasons: fitting.map((reason) => ({ id: reason.id })),
        validFrom: dateText(practice.today - PAST_DAYS),
      };
    }
  }
}
