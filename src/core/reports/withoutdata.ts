import { ApiFailure } from '../transport/apifailure.ts';

/** Whether a failure says that a location has no data, not that the address is wrong. */
export function isWithoutData(failure: unknown): failure is ApiFailure {
  return failure instanceof ApiFailure && failure.status === 404 && failure.code !== 'route.unknown';
}
