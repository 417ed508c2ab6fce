import type { Operation } from '../../../catalog/define.ts';
import { type Problem, Refusal } from '../../../catalog/failures.ts';
import type { Term } from '../../../catalog/filter/check.ts';
import type { OperationRequest } from '../../service.ts';
import { settingOf, validTerms } from '../terms.ts';

/** The query of a production report: `days` local days from `fromDate` on. */
export interface ProductionQuery {
  readonly fromDate: string;
  readonly days: number;
  /** Undefined: each location's own. */
  readonly zone: string | undefined;
  /** What limits the appointments, as terms on their own keys. */
  readonly terms: readonly Term[];
}

const EXCLUSIVE = ['provider.id', 'patient.id', 'appointment.id'];

/** Reads the filter (specification, Errors: 400 conditions). Throws a Refusal with the problems given and its own. */
export function readProductionQuery(
  request: OperationRequest,
  operation: Operation,
  problems: Problem[],
): ProductionQuery {
  const { terms, named } = validTerms(request, operation);
  const [first, ...others] = EXCLUSIVE.filter((key) => named.has(key));
  for (const key of others) {
    const description = `${first} and ${key} exclude each other; use one of ${EXCLUSIVE.join(', ')}.`;
    problems.push({ code: 'field.conflict', source: key, description });
  }
  const query = queryOfTerms(terms, problems);
  if (named.has('isPrimaryWriteOff')) {
    const description = 'Filter isPrimaryWriteOff is deprecated.';
    request.warnings.push({ title: 'Deprecated filter', description, source: 'isPrimaryWriteOff' });
  }
  return query;
}

/** The query of checked terms. Throws a Refusal with the problems given and its own. */
export function queryOfTerms(terms: readonly Term[], problems: Problem[] = []): ProductionQuery {
  const fromDate = settingOf(terms, 'fromDate', problems) as string;
  const days = settingOf(terms, 'range', problems) as number | undefined;
  const zone = settingOf(terms, 'timezone', problems) as string | undefined;
  if (problems.length > 0) throw new Refusal(problems);
  return {
    fromDate,
    days: days ?? 1,
    zone,
    terms: terms.filter(({ key }) => key.key.endsWith('.id')).map(onAppointments),
  };
}

/** An appointment's own id is `appointment.id` here. */
function onAppointments(term: Term): Term {
  return term.key.key === 'appointment.id' ? { ...term, key: { ...term.key, key: 'id' } } : term;
}
