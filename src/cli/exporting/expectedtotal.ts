import { pathOf } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { parseFilter } from '../../catalog/filter/grammar.ts';
import type { ApiAnswer, ApiClient } from '../../core/transport/client.ts';
import type { RowProgress } from '../rowprogress.ts';

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
  const count = resource.operations.count;
  if (count === undefined || !takes(count, filter)) return;
  try {
    const answer = await client.request({ method: 'GET', path: pathOf(count), query: { filter }, signal });
    const total = totalOf(answer);
    if (total !== undefined) progress.total = Math.min(total, plan.limit ?? total);
  } catch {
    // A token that may list and not count, or a server that is busy: the export says what matters.
  }
}

/** The count of an answer under either of its names (D18), undefined where there is none. */
export function totalOf(answer: ApiAnswer): number | undefined {
  const data = isPlainObject(answer.data) ? answer.data : {};
  const total = data.totalCount ?? data.total;
  return typeof total === 'number' ? total : undefined;
}

function takes(count: Operation, filter: string | undefined): boolean {
  return parseFilter(filter ?? '').every(({ key }) => Object.hasOwn(count.filters ?? {}, key));
}
