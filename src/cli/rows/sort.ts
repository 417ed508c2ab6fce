import type { Fields } from '../../catalog/fields/kind.ts';
import { usageFailure } from '../../core/failure.ts';
import { type Column, columnsOf } from '../../core/output/columns.ts';
import type { RowPage } from '../../core/pages/page.ts';
import type { RowOrder, SortKey } from '../../core/sorting/roworder.ts';
import { sortedPages } from '../../core/sorting/sortedpages.ts';
import { RecordSpool } from '../../core/stream/recordspool.ts';
import type { Context } from '../context.ts';
import { checkFieldNames } from '../flags/fieldnames.ts';
import { type FlagValues, textFlags } from '../flags/values.ts';

/** What `--sort` says. */
export interface SortPlan {
  readonly order: RowOrder;
  /** Maximum records of the sorted result; all where undefined. */
  readonly limit: number | undefined;
}

/** The keys of `--sort a,-b`, undefined without it. Throws a Refusal or a Failure (exit 2). */
export function readSort(flags: FlagValues, fields: Fields): SortKey[] | undefined {
  const texts = textFlags(flags, 'sort');
  if (texts.length === 0) return undefined;
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  return names.flatMap((name) => {
    const descending = name.startsWith('-');
    return keyColumns(descending ? name.slice(1) : name, fields).map((column) => ({ column, descending }));
  });
}

/** The column of a key. */
function keyColumns(name: string, fields: Fields): Column[] {
  if (name === '' || name === 'ALL') {
    throw usageFailure('--sort takes fields, such as lastName or -lastModified.', { source: '--sort' });
  }
  checkFieldNames(name, fields, '--sort');
  const kind = Object.hasOwn(fields, name) ? fields[name]?.kind : undefined;
  const [part] = kind?.parts ?? [];
  if (part !== undefined) throw unordered(`${name} is a link; sort by ${name}.${part}`);
  if (kind?.schema.type === 'array') throw unordered(`${name} is a list`);
  if (kind?.schema.type === 'object') throw unordered(`${name} is an object`);
  return columnsOf(fields, [name]).slice(0, 1);
}

function unordered(what: string) {
  return usageFailure(`--sort takes fields with one value: ${what}.`, { source: '--sort' });
}

/** Pages in the order of `--sort`; unchanged without it. `onRead`: called with the rows read so far. */
export function sortPages(
  pages: AsyncIterable<RowPage>,
  sort: SortPlan | undefined,
  { temporaryFolder }: Pick<Context, 'temporaryFolder'>,
  onRead: (rows: number) => void,
): AsyncIterable<RowPage> {
  if (sort === undefined) return pages;
  return sortedPages(counting(pages, onRead), {
    ...sort,
    openSpool: () => RecordSpool.open(temporaryFolder),
  });
}

async function* counting(pages: AsyncIterable<RowPage>, onRead: (rows: number) => void): AsyncGenerator<RowPage> {
  let total = 0;
  for await (const page of pages) {
    yield page;
    total += page.rows.length;
    onRead(total);
  }
}
