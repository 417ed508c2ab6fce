import type { Operation } from '../../catalog/define.ts';
import type { Problem } from '../../catalog/failures.ts';
import { checkTerms, type Term } from '../../catalog/filter/check.ts';
import { parseFilter } from '../../catalog/filter/grammar.ts';
import type { FilterScalar } from '../../catalog/filter/values.ts';
import { gather } from '../requests.ts';
import type { OperationRequest } from '../service.ts';

/** The valid terms of a report's filter, and every key that the filter names. */
interface ReportTerms {
  readonly terms: readonly Term[];
  readonly named: ReadonlySet<string>;
}

/**
 * The valid terms of a report's filter: violations of rules between keys are reported in the same response as invalid
 * terms, which `readTerms` reports. Empty when the filter cannot be parsed at all.
 */
export function validTerms(request: OperationRequest, operation: Operation): ReportTerms {
  const raw = gather([], () => parseFilter(request.query.filter ?? '')) ?? [];
  const keys = Object.fromEntries(
    Object.entries(operation.filters ?? {}).map(([name, key]) => [name, { ...key, required: false }]),
  );
  return {
    terms: raw.flatMap((term) => gather([], () => checkTerms([term], keys)) ?? []),
    named: new Set(raw.map((term) => term.key)),
  };
}

/** The one value of a key that is a setting: ALL locations as `ALL`. Different values are a conflict. */
export function settingOf(terms: readonly Term[], key: string, problems: Problem[]): FilterScalar | undefined {
  const values = terms.filter((term) => term.key.key === key).map((term) => (term.all ? 'ALL' : term.values[0]));
  const [first, other] = new Set(values);
  if (other !== undefined) {
    const description = `${key} is given as ${first} and as ${other}; give it once.`;
    problems.push({ code: 'field.conflict', source: key, description });
  }
  return first;
}

/** The values that every term of a key allows; undefined when the filter has no such term. */
export function allowedBy(terms: readonly Term[], key: string): ReadonlySet<FilterScalar> | undefined {
  const [first, ...rest] = terms.filter((term) => term.key.key === key).map((term) => new Set(term.values));
  return first && new Set([...first].filter((value) => rest.every((values) => values.has(value))));
}
