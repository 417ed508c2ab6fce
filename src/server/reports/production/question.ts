import type { Operation } from '../../../catalog/define.ts';
import { type Problem, Refusal } from '../../../catalog/failures.ts';
import type { Term } from '../../../catalog/filter/check.ts';
import type { OperationRequest } from '../../service.ts';
import { settingOf, soundTerms } from '../terms.ts';

/** What a production report is asked for: `days` local days from `fromDate` on. */
export interface ProductionQuestion {
  readonly fromDate: string;
  readonly days: number;
  /** Undefined: each location's own. */
  readonly zone: string | undefined;
  /** What limits the appointments, as terms on their own keys. */
  readonly terms: readonly Term[];
}

const EXCLUSIVE = ['provider.id', 'patient.id', 'appointment.id'];

/** Reads the filter (specification, Errors: 400 conditions). Throws a Refusal with the problems given and its own. */
export function readProductionQuestion(
  request: OperationRequest,
  operation: Operation,
  problems: Problem[],
): ProductionQuestion {
  const { terms, named } = soundTerms(request, operation);
  const [kept, ...others] = EXCLUSIVE.filter((key) => named.has(key));
  for (const key of others) {
    const description = `${kept} and ${key} exclude each other; use one of ${EXCLUSIVE.join(', ')}.`;
    problems.push({ code: 'field.conflict', source: key, description });
  }
  const question = questionOfTerms(terms, problems);
  if (named.has('isPrimaryWriteOff')) {
    const description = 'Filter isPrimaryWriteOff is deprecated.';
    request.warnings.push({ title: 'Deprecated filter', description, source: 'isPrimaryWriteOff' });
  }
  return question;
}

/** What checked terms ask for. Throws a Refusal with the problems given and its own. */
export function questionOfTerms(terms: readonly Term[], problems: Problem[] = []): ProductionQuestion {
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
