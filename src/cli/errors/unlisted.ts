import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { isFailureCode } from '../../catalog/failures.ts';
import { reworded } from '../../core/failure.ts';
import { ApiFailure, WITHOUT_ROUTE } from '../../core/transport/apifailure.ts';

/** What reads the same without an operation that the specification does not list. */
const INSTEAD: Readonly<Record<string, string>> = {
  'appointments.list': 'Add --async: the specification has appointments on the streaming channel.',
  'appointments.get':
    'If the id is right, use molar appointments list --async --id ID: the specification has appointments on the streaming channel.',
};

const NOTHING = 'If the id is right, the service does not have it, and the specification has nothing in its place.';

/** The failure of an operation that the specification does not list, where a service may lack it: says so (D23, D27). */
export function asUnlisted(cause: unknown, { id, method, path, unlisted }: Operation): unknown {
  if (!unlisted || !(cause instanceof ApiFailure) || !WITHOUT_ROUTE.includes(cause.status)) return cause;
  // A code of ours means that the route exists.
  if (isFailureCode(cause.code) && cause.code !== 'route.unknown' && cause.code !== 'route.method') return cause;
  const message = `${cause.message} The specification does not list ${method} ${API_PREFIX}${path}; a service need not have it.`;
  return reworded(cause, { message, hint: INSTEAD[id] ?? NOTHING });
}
