import type { Automatic } from './automatic.ts';
import { type Call, type Reply, recordOf } from './call.ts';
import { type Keys, readFilter, type Term } from './filter.ts';
import { matches } from './matching.ts';
import { arranged, ordered, type Page, pageOf } from './paging.ts';
import { decline, refuse } from './refusal.ts';
import { project, readFields } from './responsefields.ts';
import type { Fields, Resource, Stored } from './store.ts';
import { tooWide } from './wide.ts';

/** A resource that is read in bulk. */
export interface Bulk {
  readonly resource: Resource;
  readonly keys: Keys;
  readonly filterRequired?: true;
  /** The largest pageSize that may be asked for, where one is listed. */
  readonly maximum?: number;
  readonly automatic?: Automatic;
  /** Whether wide lastModified ranges may be 408, and in which mood. */
  readonly wide?: 'wideDays' | 'wideEverywhere';
  /** The location filter that the announced change makes required. */
  readonly location?: string;
  /** Names that responseFields takes; any where the specification does not show all fields. */
  readonly fields?: readonly string[];
  readonly meta?: (page: Page, call: Call) => Fields | undefined;
  /** What is shown of a record. */
  readonly show?: (record: Fields, call: Call) => Fields;
}

/** The records that match the filter of a request, in ascending order of ids. */
export function chosen(bulk: Bulk, call: Call): { records: readonly Stored[]; terms: readonly Term[] } {
  const { world, query } = call;
  const written = query.get('filter');
  if (bulk.filterRequired && !written) refuse('filter is required.');
  const terms = written === undefined ? [] : readFilter(written, bulk.keys);
  requireLocation(bulk, call, terms);
  if (tooWide(bulk, world, terms)) decline(408, 'The request took too long. Narrow the filter.');
  const shown = bulk.automatic?.(terms, world, written !== undefined) ?? (() => true);
  const missingDiffers = !world.moods.missingNeverDiffers;
  const records = world.practice.shelves[bulk.resource]
    .all()
    .filter((stored) => shown(stored) && matches(stored.record, terms, bulk.keys, missingDiffers));
  return { records, terms };
}

/** A bulk read: one page of the matching records. */
export function list(bulk: Bulk, call: Call): Reply {
  const { records: matching, terms } = chosen(bulk, call);
  const page = pageOf(ordered(matching, bulk, call, terms), call, bulk.maximum);
  const fields = readFields(call, bulk.fields);
  const records = arranged(page, bulk, call, terms);
  const data = records.map(({ record }) => project(shownOf(bulk, record, call), fields));
  return { data, meta: bulk.meta?.({ ...page, records }, call) };
}

/** One record by the id in the path. */
export function single(bulk: Bulk, call: Call, name: string): Reply {
  const { record } = recordOf(call, bulk.resource, name);
  return { data: project(shownOf(bulk, record, call), readFields(call, bulk.fields)) };
}

/** A count of the matching records; `name` where the specification shows the field. */
export function count(bulk: Bulk, call: Call, name: string = call.world.moods.countName): Reply {
  const { length } = chosen(bulk, call).records;
  return { data: { [name]: call.world.moods.countsAsStrings ? String(length) : length } };
}

/** Most that an async endpoint returns at once. */
const AT_ONCE = 10;

/** What an async endpoint returns at once; the rest would be streamed. */
export function atOnce(bulk: Bulk, call: Call, descending = false): Reply {
  const ascending = chosen(bulk, call).records;
  const page = pageOf(descending ? ascending.toReversed() : ascending, call, AT_ONCE);
  const fields = readFields(call, bulk.fields);
  const data = page.records.slice(0, AT_ONCE).map(({ record }) => project(shownOf(bulk, record, call), fields));
  return { data };
}

function shownOf(bulk: Bulk, record: Fields, call: Call): Fields {
  return bulk.show ? bulk.show(record, call) : record;
}

function requireLocation({ location }: Bulk, { world }: Call, terms: readonly Term[]): void {
  if (!location || !world.moods.requireLocation || terms.some(({ key }) => key === location)) return;
  decline(400, `${location} is required: a list of ids or ["ALL"].`);
}
