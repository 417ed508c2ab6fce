import { dirname, join } from 'node:path';
import type { Resource } from '../../catalog/define.ts';
import type { Increment } from '../../core/exports/increment.ts';
import type { Receipt } from '../../core/exports/receipt.ts';
import { counted, durationText } from '../terminal/text.ts';

/**
 * One line on a finished export: `Wrote 52,310 patients to patients.csv (105 pages, 2 retries, 14 s).` `path` is that of
 * the whole file.
 */
export function exportSummary(
  receipt: Receipt,
  { one, many }: Pick<Resource, 'one' | 'many'>,
  path: string,
  increment: Increment | undefined,
): string {
  const { rows, pages, retries, throttledSeconds, resumed, startedAt, endedAt } = receipt;
  const seconds = (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  const facts = [
    times(pages, 'page'),
    ...(retries > 0 ? [times(retries, 'retry', 'retries')] : []),
    ...(throttledSeconds > 0 ? [`${durationText(throttledSeconds)} held back by the rate limit`] : []),
    ...(resumed > 0 ? [`resumed ${times(resumed, 'time')}`] : []),
    seconds < 10 ? `${seconds.toFixed(1)} s` : durationText(seconds),
  ];
  const said = `(${facts.join(', ')}).${sinceText(increment)}`;
  if (receipt.kind === 'whole') return `Wrote ${times(rows, one, many)} to ${path} ${said}`;
  const left = `${path} is left as it is.`;
  if (rows === 0) return `No ${many} changed: no file was written ${said} ${left}`;
  return `Wrote ${times(rows, one, many)} that changed to ${join(dirname(path), receipt.file)} ${said} ${left}`;
}

/** What an increment holds, as a sentence after another one. */
export function sinceText(increment: Increment | undefined): string {
  if (increment === undefined) return '';
  return increment.since === undefined
    ? ' The first run of this bookmark: every record.'
    : ` Modified since ${increment.since}.`;
}

export function times(count: number, one: string, many = `${one}s`): string {
  return `${counted(count)} ${count === 1 ? one : many}`;
}
