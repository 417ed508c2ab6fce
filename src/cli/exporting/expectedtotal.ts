import { pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { countOperationOf, totalOf } from '../../core/pages/countall.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { RowProgress } from '../terminal/progress.ts';

/**
 * Asks how many records there will be, where one cheap request can tell, for an end estimate. Never rejects: without
 * it the progress tells no end.
 */
export async function expectedTotal(
  client: ApiClient,
  { resource, plan }: { readonly resource: Resource; readonly plan: { readonly limit: number | undefined } },
  filter: string | undefined,
  signal: AbortSignal,
  progress: RowProgress,
): Promise<void> {
  const count = countOperationOf(resource, filter);
  if (count === undefined) return;
  try {
    const answer = await client.request({ method: 'GET', path: pathOf(count), query: { filter }, signal });
    const total = totalOf(answer);
    if (total !== undefined) progress.total = Math.min(total, plan.limit ?? total);
  } catch {
    // A token that may list and not count, or a server that is busy: the export says what matters.
  }
}
