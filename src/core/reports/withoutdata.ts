import { isFailureCode } from '../../catalog/failures.ts';
import { readRefusal } from '../doctor/probes.ts';
import { reworded } from '../failure.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient } from '../transport/client.ts';

/** Whether a report was answered as one without data (specification, Errors: 404), as far as the answer alone tells. */
export function isWithoutData(failure: unknown): failure is ApiFailure {
  return failure instanceof ApiFailure && failure.status === 404 && failure.code !== 'route.unknown';
}

/**
 * Makes sure that a report without data came from the API: a wrong address answers 404 as well, and no service but ours
 * says which of the two it is. Throws the failure of a request that every service has, where that is not found either.
 */
export async function confirmWithoutData(failure: ApiFailure, client: ApiClient, signal: AbortSignal): Promise<void> {
  if (isFailureCode(failure.code)) return;
  const refusal = await readRefusal(client, signal);
  if (refusal?.status !== 404) return;
  throw reworded(refusal, {
    message: `${refusal.message} This is not the API.`,
    hint: 'Check the address (MOLAR_URL, --url): it is what stands before /api/v1.',
  });
}
