import type { Bulk } from './bulk.ts';
import type { Call } from './call.ts';
import type { Term } from './filter.ts';
import { hashOf } from './random.ts';
import { refuse } from './refusal.ts';
import type { Stored } from './store.ts';

export interface Page {
  readonly records: readonly Stored[];
  /** The page size that was applied. */
  readonly limit: number;
  readonly offset: number;
  /** The number of the page, where one was asked for. */
  readonly page: number | undefined;
  readonly cursor: boolean;
  /** How many records match, on whatever page. */
  readonly total: number;
}

/** The records of a resource in the order in which they are paged. */
export function ordered(records: readonly Stored[], bulk: Bulk, call: Call, terms: readonly Term[]): readonly Stored[] {
  if (bulk.resource === 'appointmenthistories') return historiesInOrder(records, call);
  const key = newestKey(bulk, terms);
  const { newestFirst } = call.world.moods;
  const whole = newestFirst === 'always' || (newestFirst === 'withoutLastId' && !call.query.has('lastId'));
  return key && whole ? byNewest(records, key) : records;
}

/** The records of a page in the order in which they are shown. */
export function arranged({ records }: Page, bulk: Bulk, call: Call, terms: readonly Term[]): readonly Stored[] {
  const key = newestKey(bulk, terms);
  return key && call.world.moods.newestFirst === 'withinPage' ? byNewest(records, key) : records;
}

/** The date by which events are newest first: one that the filter has. */
function newestKey({ resource }: Bulk, terms: readonly Term[]): string | undefined {
  return resource === 'events' ? terms.find(({ key }) => key === 'start' || key === 'lastModified')?.key : undefined;
}

/** Records newest first; of equal dates the greatest id first. */
function byNewest(records: readonly Stored[], key: string): readonly Stored[] {
  const of = ({ record }: Stored) => String(record[key] ?? '');
  return [...records].sort((a, b) => (of(a) === of(b) ? b.id - a.id : of(a) < of(b) ? 1 : -1));
}

/** One page of records. `lastId` keeps those with a greater id, in whatever order they come. */
export function pageOf(records: readonly Stored[], call: Call, maximum = Number.MAX_SAFE_INTEGER): Page {
  const { query, world } = call;
  const asked = number(query.get('pageSize'), 'pageSize', 1) ?? Math.min(maximum, world.moods.pageCap);
  if (asked > maximum) refuse(`pageSize takes at most ${maximum}.`);
  const lastId = number(query.get('lastId'), 'lastId', 0);
  const page = number(query.get('page'), 'page', 1);
  const limit = Math.min(asked, world.moods.pageCap);
  const offset = ((page ?? 1) - 1) * limit;
  const after = lastId === undefined ? records : records.filter(({ id }) => id > lastId);
  return {
    records: after.slice(offset, offset + limit),
    limit,
    offset,
    page,
    cursor: lastId !== undefined,
    total: records.length,
  };
}

function historiesInOrder(records: readonly Stored[], { world }: Call): readonly Stored[] {
  const { historyOrder } = world.moods;
  if (historyOrder === 'ascending') return records;
  if (historyOrder === 'descending') return records.toReversed();
  return [...records].sort((a, b) => hashOf(String(a.id)) - hashOf(String(b.id)));
}

function number(written: string | undefined, name: string, least: number): number | undefined {
  if (written === undefined) return undefined;
  const value = /^\d{1,16}$/.test(written) ? Number(written) : Number.NaN;
  return value >= least ? value : refuse(`${name} takes an integer of at least ${least}, not ${written}.`);
}
