import type { Resource } from '../../catalog/define.ts';
import type { Row } from '../../core/pages/page.ts';
import { type Delivering, deliveredRows } from './delivery.ts';

/**
 * The items of a report as they are delivered over the stream, in the order of the report itself: by a field of text,
 * and those that share a value as they came (D33, D41).
 */
export async function deliveredReport(
  resource: Resource,
  filter: string,
  by: string,
  delivering: Delivering,
): Promise<readonly Row[]> {
  const items: Row[] = [];
  const pages = await deliveredRows(resource, { filter, fields: undefined }, delivering);
  for await (const { rows } of pages) items.push(...rows);
  const text = (item: Row) => String(item[by] ?? '');
  return items.sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}
