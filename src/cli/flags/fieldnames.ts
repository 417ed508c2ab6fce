import { Refusal } from '../../catalog/failures.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { readFieldSelection, selectableNames } from '../../catalog/fieldselection.ts';
import { didYouMean } from '../../core/nearest.ts';

/** Refuses unknown field names and suggests the nearest known one. `source`: the flag that has them. Throws a Refusal. */
export function checkFieldNames(text: string, fields: Fields, source: string): void {
  try {
    readFieldSelection(text, fields, source);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal(
      cause.problems.map((problem) => {
        const [name = ''] = problem.description.split(' ');
        const known =
          source === '--sort' ? problem.description.replace('Fields: ALL, ', 'Fields: ') : problem.description;
        return { ...problem, description: known + didYouMean(name, selectableNames(fields)) };
      }),
    );
  }
}
