import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Scope } from '../../catalog/scopes.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient, Query } from '../transport/client.ts';

/** A request that shows whether a token has a scope, without reading anything about a patient. */
interface Probe {
  readonly scope: Scope;
  readonly path: string;
  readonly query: Query;
}

/** No scope to write is tried: that would be a write. */
const PROBES: readonly Probe[] = [
  { scope: 'model:read', path: '/transactiontags', query: { pageSize: 1, responseFields: 'id' } },
  // Refused for its missing filter (400; or 404 as a report without data), which only a token with the scope gets to hear.
  { scope: 'practice:read', path: '/locationproductionnetschedule', query: {} },
];

/** What became of a probe: the token has the scope, lacks it, or something else is wrong. */
export interface Probed {
  readonly scope: Scope;
  readonly allowed: boolean;
  readonly failure: ApiFailure | undefined;
}

/**
 * Tries the scopes one after the other. Throws the ApiFailure where the token or the organization is refused as such
 * or the address is not that of the API, and a Failure with exit code 8 when no answer came.
 */
export async function probeScopes(client: ApiClient, signal: AbortSignal): Promise<readonly Probed[]> {
  const results: Probed[] = [];
  for (const { scope, path, query } of PROBES) {
    const failure = await refusalOf(client, path, query, signal);
    const lacking = failure?.code === 'auth.scope_missing' || (failure?.status === 403 && results.some(isAllowed));
    const heard = scope === 'practice:read' && (failure?.status === 400 || failure?.status === 404);
    if (failure !== undefined && !lacking && !heard) throw failure;
    results.push({ scope, allowed: !lacking, failure: lacking ? failure : undefined });
  }
  return results;
}

function isAllowed({ allowed }: Probed): boolean {
  return allowed;
}

async function refusalOf(
  client: ApiClient,
  path: string,
  query: Query,
  signal: AbortSignal,
): Promise<ApiFailure | undefined> {
  try {
    await client.request({ method: 'GET', path: API_PREFIX + path, query, signal });
    return undefined;
  } catch (cause) {
    if (cause instanceof ApiFailure) return cause;
    throw cause;
  }
}
