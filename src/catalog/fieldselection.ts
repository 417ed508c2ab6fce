import { MAX_PROBLEMS, type Problem, Refusal } from './failures.ts';
import type { Fields } from './fields/kind.ts';
import { shown } from './fields/kind.ts';
import { emittedFields } from './record.ts';

/** Every name that `responseFields` and `--fields` take: fields, and `field.id` of links (D19). */
export function selectableNames(fields: Fields): string[] {
  return emittedFields(fields).flatMap((name) => [
    name,
    ...(fields[name]?.kind.parts ?? []).map((part) => `${name}.${part}`),
  ]);
}

/**
 * Reads `responseFields`: undefined for all fields, else the requested top-level names, `id` and `type` included, in
 * the resource's own order. Throws a Refusal that lists the known names (D19).
 */
export function readFieldSelection(text: string | undefined, fields: Fields, source: string): string[] | undefined {
  if (text === undefined) return undefined;
  const asked = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (asked.length === 0) return undefined;
  const known = selectableNames(fields);
  const problems: Problem[] = asked
    .filter((name) => name !== 'ALL' && !known.includes(name))
    .slice(0, MAX_PROBLEMS)
    .map((name) => ({
      code: 'query.fields',
      source,
      description: `${shown(name)} is not a field. Fields: ALL, ${known.join(', ')}.`,
    }));
  if (problems.length > 0) throw new Refusal(problems);
  if (asked.includes('ALL')) return undefined;
  const wanted = new Set(['id', 'type', ...asked.map((name) => name.split('.')[0])]);
  return emittedFields(fields).filter((name) => wanted.has(name));
}
