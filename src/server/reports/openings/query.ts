import { operationOf } from '../../../catalog/catalog.ts';
import { type Problem, Refusal } from '../../../catalog/failures.ts';
import type { FilterScalar } from '../../../catalog/filter/values.ts';
import { openings } from '../../../catalog/resources/reports.ts';
import { gather, readTerms } from '../../requests.ts';
import type { OperationRequest } from '../../service.ts';
import { daysBetween } from '../days.ts';
import { allowedBy, settingOf, validTerms } from '../terms.ts';

/** The query for openings: `days` calendar days of a location from `startDate` on. */
export interface OpeningsQuery {
  readonly location: number;
  readonly startDate: string;
  readonly days: number;
  readonly minMinutes: number;
  /** Undefined: any. */
  readonly operatories: ReadonlySet<FilterScalar> | undefined;
  readonly providers: ReadonlySet<FilterScalar> | undefined;
  /** A slot must have one of each list. */
  readonly bookingTypes: readonly (readonly FilterScalar[])[];
  readonly reasons: readonly (readonly FilterScalar[])[];
}

/** Maximum days per request, first and last included (D32). */
const MAX_DAYS = 92;

/** Reads and checks the filter (specification, Errors: 400 conditions; D32). Throws a Refusal. */
export function readOpeningsQuery(request: OperationRequest): OpeningsQuery {
  const problems: Problem[] = [];
  const operation = operationOf(openings, 'list');
  gather(problems, () => readTerms(request, operation));
  const { terms } = validTerms(request, operation);
  const location = settingOf(terms, 'location.id', problems) as number;
  const startDate = settingOf(terms, 'startDate', problems) as string;
  const endDate = settingOf(terms, 'endDate', problems) as string;
  const days = checkDays(startDate, endDate, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const listsOf = (name: string) => terms.filter(({ key }) => key.key === name).map(({ values }) => values);
  return {
    location,
    startDate,
    days,
    minMinutes: Math.max(0, ...(listsOf('minOpeningLength').flat() as number[])),
    operatories: allowedBy(terms, 'operatory.id'),
    providers: allowedBy(terms, 'provider.id'),
    bookingTypes: listsOf('booking.type'),
    reasons: listsOf('reason.id'),
  };
}

function checkDays(startDate: string | undefined, endDate: string | undefined, problems: Problem[]): number {
  if (startDate === undefined || endDate === undefined) return 0;
  const days = daysBetween(startDate, endDate) + 1;
  if (days < 1) {
    const description = `endDate ${endDate} is before startDate ${startDate}.`;
    problems.push({ code: 'field.conflict', source: 'endDate', description });
  } else if (days > MAX_DAYS) {
    const description = `${startDate} to ${endDate} are ${days} days; one request takes ${MAX_DAYS} at most.`;
    problems.push({ code: 'filter.value', source: 'endDate', description });
  }
  return days;
}
