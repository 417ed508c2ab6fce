import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Scope } from '../../catalog/scopes.ts';
import { ApiFailure } from '../transport/apifailure.ts';
import type { ApiClient, Query } from '../transport/client.ts';

/**
 * A request that shows whether a token has a scope, without reading anything about a patient. It is valid by the
 * specification, so that only a missing scope or organization makes a service refuse it, in whatever order it checks.
 */
interface Probe {
  readonly scope: Scope;
  readonly path: string;
  readonly query: Query;
}

const MODEL: Probe = {
  scope: 'model:read',
  path: '/transactiontags',
  query: { filter: 'tagType==PAYMENT_TAG', pageSize: 1 },
};

/** The report of one day. No data is a valid response too: 404 (specification, Errors). */
function practice(now: number): Probe {
  const today = new Date(now).toISOString().slice(0, 10);
  const filter = `fromDate==${today},location.id==ALL`;
  return { scope: 'practice:read', path: '/locationproductionnetschedule', query: { filter } };
}

/** The result of a probe: the token has the scope or lacks it. */
export interface ProbeResult {
  readonly scope: Scope;
  readonly allowed: boolean;
  readonly failure: ApiFailure | undefined;
}

/**
 * Tries the scopes to read; those to write would take a write. `now`: UTC milliseconds. A service that refuses both
 * (403) is taken to refuse the organization, unless it says that it is the scopes. Throws the ApiFailure where the token
 * or the organization is refused as such or the address is not that of the API, and a Failure with exit code 8 without
 * a response.
 */
export async function probeScopes(
  client: ApiClient,
  signal: AbortSignal,
  now: number,
): Promise<readonly ProbeResult[]> {
  const model = await refusalOf(client, MODEL, signal);
  if (model !== undefined && (model.status !== 403 || model.code === 'auth.organization_forbidden')) throw model;
  const report = await refusalOf(client, practice(now), signal);
  if (report !== undefined && report.status !== 403 && report.status !== 404) throw report;
  const lacksReport = report?.status === 403;
  if (model !== undefined && lacksReport && model.code !== 'auth.scope_missing') throw model;
  return [
    { scope: 'model:read', allowed: model === undefined, failure: model },
    { scope: 'practice:read', allowed: !lacksReport, failure: lacksReport ? report : undefined },
  ];
}

/** The refusal of a plain read, undefined where allowed: tells a service that lacks a route from no service. */
export function readRefusal(client: ApiClient, signal: AbortSignal): Promise<ApiFailure | undefined> {
  return refusalOf(client, MODEL, signal);
}

async function refusalOf(
  client: ApiClient,
  { path, query }: Probe,
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
