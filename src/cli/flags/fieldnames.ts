import { Refusal } from '../../catalog/failures.ts';
import { readFieldSelection, selectableNames } from '../../catalog/fieldselection.ts';
import type { Fields } from '../../catalog/record.ts';
import { nearest } from '../errors/nearest.ts';

/** Refuses unknown names of fields, with the nearest known one. `source`: the flag that has them. Throws a Refusal. */
export function checkFieldNames(text: string, fields: Fields, source: string): void {
  try {
    readFieldSelection(text, fields, source);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal(
      cause.problems.map((problem) => {
        const near = nearest(problem.description.split(' ')[0] ?? '', selectableNames(fields));
        const suggestion = near === undefined ? '' : ` Did you mean ${near}?`;
        const known =
          source === '--sort' ? problem.description.replace('Fields: ALL, ', 'Fields: ') : problem.description;
        return { ...problem, description: `${known}${suggestion}` };
      }),
    );
  }
}
