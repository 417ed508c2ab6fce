import { dateText, timeText, WEEKDAYS } from '../calendar.ts';
import type { LocationPlan, OperatoryPlan } from '../locations.ts';
import type { Practice } from '../practice.ts';
import type { DemoRecord } from '../record.ts';
import { HALF_DAY } from '../schedule.ts';
import { PAST_DAYS } from '../sizes.ts';

/** A location's reasons for visits and the hours of its operatories (D31): what openings are made of. */
export function* templateRecords(practice: Practice, location: LocationPlan): Generator<DemoRecord> {
  const { organizationId } = practice;
  for (const { id, reason, durationMinutes } of location.reasons) {
    yield {
      type: 'ScheduleTemplateReasonV1',
      organizationId,
      id,
      reason,
      durationMinutes,
      location: { id: location.id },
    };
  }
  for (const operatory of location.operatories) {
    for (const weekday of location.weekdays) {
      yield block(practice, location, operatory, weekday, location.hours.morning);
      yield block(practice, location, operatory, weekday, location.hours.afternoon);
    }
  }
}

function block(
  practice: Practice,
  location: LocationPlan,
  { id, provider }: OperatoryPlan,
  weekday: number,
  start: number,
): DemoRecord {
  const usual = provider.role === 'hygienist' ? 'RECARE' : 'TREATMENT';
  const fitting = location.reasons.filter(({ isFor }) => isFor === usual || isFor === 'NEW_PATIENT');
  // New patients are seen in the mornings.
  const booking = start < 720 ? [usual, 'NEW_PATIENT', 'EXISTING_PATIENT'] : [usual, 'EXISTING_PATIENT'];
  return {
    type: 'ScheduleTemplateV1',
    organizationId: practice.organizationId,
    id: practice.ids.next('ScheduleTemplateV1'),
    location: { id: location.id },
    operatory: { id },
    provider: { id: provider.id },
    dayOfWeek: WEEKDAYS[weekday],
    start: timeText(start),
    end: timeText(start + HALF_DAY),
    bookingTypes: booking,
    reasons: fitting.map((reason) => ({ id: reason.id })),
    validFrom: dateText(practice.today - PAST_DAYS),
  };
}
