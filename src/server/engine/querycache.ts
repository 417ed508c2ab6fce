import type { Resource } from '../../catalog/define.ts';
import type { Term } from '../../catalog/filter/check.ts';
import { ownTurn } from '../fairscheduling.ts';
import type { Answer } from '../service.ts';
import { tableOf } from '../store/layout.ts';
import { countRecords, type Slice } from '../store/records.ts';
import type { Store } from '../store/store.ts';

/** What the pages of one walk have in common: the records of an organization that a filter selects. */
export interface Question {
  readonly org: number;
  readonly resource: Resource;
  readonly terms: readonly Term[];
}

/** A page as JSON, and the id of its last record; undefined for an empty one. */
export interface ReadPage {
  readonly data: Answer['data'];
  readonly lastId: number | undefined;
  /** How many records it has. */
  readonly found: number;
}

/** Counts and page ends that are kept at once. */
const KEPT = 200;

/** How many records a question selects: counted once for all pages that are read while no such record is written. */
export async function countOnce(store: Store, question: Question): Promise<number> {
  const known = store.countCache(tableOf(question.resource));
  const name = `count ${nameOf(question)}`;
  const total = known.get(name) ?? (await countNow(store, question));
  keep(known, name, total);
  return total;
}

async function countNow({ read }: Store, { org, resource, terms }: Question): Promise<number> {
  await ownTurn();
  return countRecords(read, org, resource, terms);
}

/**
 * Reads a page that is asked for by number. Where the page before it ended is kept while nothing is written, so that a
 * walk does not pass over every earlier record again on each page. Pages out of id order are read as they are.
 */
export async function readNumberedPage(
  store: Store,
  question: Question,
  slice: Slice,
  read: (slice: Slice) => Promise<ReadPage>,
): Promise<ReadPage> {
  if (slice.order !== undefined || slice.lastId > 0) return read(slice);
  const unchanged = () => store.countCache(tableOf(question.resource));
  const known = unchanged();
  const name = nameOf(question);
  const before = slice.offset === 0 ? undefined : known.get(`end ${slice.offset} ${name}`);
  let page = await read(before === undefined ? slice : { ...slice, lastId: before, offset: 0 });
  // Something was written meanwhile: the page before it may end elsewhere now.
  if (before !== undefined && unchanged() !== known) page = await read(slice);
  if (page.lastId !== undefined) keep(known, `end ${slice.offset + slice.limit} ${name}`, page.lastId);
  return page;
}

function keep(known: Map<string, number>, name: string, value: number): void {
  if (known.has(name)) return;
  if (known.size >= KEPT) known.delete(known.keys().next().value as string);
  known.set(name, value);
}

function nameOf({ org, resource, terms }: Question): string {
  return JSON.stringify([
    org,
    resource.type,
    terms.map(({ key, operator, values, all }) => [key.key, operator, all, values]),
  ]);
}
