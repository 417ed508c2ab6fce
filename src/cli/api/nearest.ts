import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import { isFailureCode } from '../../catalog/failures.ts';
import { Failure, reworded } from '../../core/failure.ts';
import { nearest } from '../errors/nearest.ts';

/**
 * The failure of a path that the server does not know, with the path of the API that was probably meant. A service that
 * says no more than 404 may mean a record as well: then only a path that the API does not have is spoken of.
 */
export function withNearestPath(cause: unknown, path: string): unknown {
  if (!(cause instanceof Failure) || cause.status !== 404) return cause;
  if (isFailureCode(cause.code) && cause.code !== 'route.unknown') return cause;
  const near = nearestPath(path);
  const isTyped = `${API_PREFIX}/${near}` === path.split('?')[0];
  return near === undefined || isTyped ? cause : reworded(cause, { hint: `Did you mean ${near}?` });
}

/** The path of the catalog, as it is typed, that is nearest to one that begins with `/api/v1`; ids stay as they are. */
export function nearestPath(path: string): string | undefined {
  const typed = path.slice(API_PREFIX.length + 1).split('/');
  const candidates = allOperations().flatMap(({ operation }) => {
    const parts = operation.path.slice(1).split('/');
    // What is typed where an id stands is one only if it is a number: `patients/calculatd` is no id.
    const fits = parts.length === typed.length && parts.every((part, at) => !isId(part) || isNumber(typed[at]));
    return fits ? [parts.map((part, at) => (isId(part) ? typed[at] : part)).join('/')] : [];
  });
  return nearest(typed.join('/'), [...new Set(candidates)]);
}

function isId(part: string): boolean {
  return part.startsWith('{');
}

function isNumber(part: string | undefined): boolean {
  return /^\d+$/.test(part ?? '');
}
