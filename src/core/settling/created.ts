import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, formatTerm, type RawTerm } from '../../catalog/filter/grammar.ts';
import { localFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { ApiClient } from '../transport/client.ts';
import type { PostAttempt, WriteLookups } from '../transport/uncertainwrite.ts';
import { eventLikenesses } from './eventmeaning.ts';
import { instantOf, isNothing, type Likeness, type Likenesses, likenesses } from './meaning.ts';

/**
 * Milliseconds that a record of the POST may seem to be older than it, by one clock: both `Date` and `lastModified` may
 * leave out what is below the second.
 */
const GRAIN = 2000;

/**
 * How far apart the clocks of one service may be: the one of its `Date` and the one of its `lastModified`. They are one
 * as a rule; a record older than the POST by no more than this is taken neither for its own nor for an earlier one.
 */
const SKEW = 2 * 60_000;

/** How records of a resource are told apart. */
interface Identity {
  /**
   * Filter keys that the specification gives with `==`, and none that a service could store in other words than were
   * sent, as it may a name.
   */
  readonly keys: readonly string[];
  /** Fields without which a record could be anything. */
  readonly fields: readonly string[];
  /** Further ones that no service changes on storing: a record that differs in one of these is another one. */
  readonly fixed?: readonly string[];
}

/** How an event lies in the calendar. Not the days on which a series begins and ends: a service may move those. */
const PLACED = ['operatory', 'provider', 'allDay', 'recurrenceType', 'recurrenceFrequency'];
const ON_DAYS = ['recurrenceDays', 'recurrenceWeek', 'recurrenceDay'];

const IDENTITIES: Readonly<Record<string, Identity>> = {
  patients: { keys: ['dateOfBirth', 'preferredLocation.id'], fields: ['firstName', 'lastName'] },
  events: { keys: ['title', 'location.id'], fields: ['title', 'start'], fixed: [...PLACED, ...ON_DAYS] },
  transactiontags: { keys: ['tagType'], fields: ['tagText'] },
  appointments: { keys: ['patient.id'], fields: ['start', 'operatory'] },
};

/**
 * Ways to tell whether a POST of unknown outcome made its record (D49): one that means what was sent and is not older
 * than the POST, by the service's own clock. A record that may be it makes the outcome unknown: one that nothing dates
 * surely, or that differs in what a service may change on storing. So does a list that cannot be asked. Where the kind of
 * record has no time of change, the one that is there counts. Of more than one, which late attempts may leave, the client
 * warns. There are none for a resource, or a body, that cannot be looked up.
 */
export function createdLooks(client: ApiClient, resource: Resource, sent: unknown): WriteLookups {
  const look = lookFor(client, resource, sent);
  if (look === undefined) return {};
  return {
    lookUp: async (posted) => {
      const { found, undecided } = await look(posted);
      if (found.length === 0 && undecided.length > 0) throw cannotTell(resource, undecided);
      if (found.length > 1) client.warn(severalOf(resource, found));
      return newestOf(found);
    },
    // Until the last attempt no record was there that may be it, or there would have been none.
    checkDuplicates: async (posted) => {
      const { found, undecided } = await look(posted);
      const made = seriesOnce([...found, ...undecided]);
      if (made.length > 1) client.warn(severalOf(resource, made));
    },
  };
}

/** Records that are what was sent, and those that may be it; one of each series. */
interface Seen {
  readonly found: readonly Row[];
  readonly undecided: readonly Row[];
}

type Look = (posted: PostAttempt) => Promise<Seen>;

function lookFor(client: ApiClient, resource: Resource, sent: unknown): Look | undefined {
  const identity = IDENTITIES[resource.name];
  if (identity === undefined || !isPlainObject(sent)) return undefined;
  const filter = filterOf(resource, identity, sent);
  if (filter === undefined) return undefined;
  const like = resource.name === 'events' ? eventLikenesses : likenesses;
  const hasTime = resource.fields.lastModified !== undefined;
  return async (posted) => {
    const found: Row[] = [];
    const undecided: Row[] = [];
    try {
      for await (const { row, time } of listed(client, resource, filter, posted)) {
        const meaning = meaningOf(identity, like(resource.fields, sent, row));
        const age = hasTime ? ageOf(row, time) : 'new';
        if (meaning === 'other' || age === 'old') continue;
        const isWhole = identity.fields.every((name) => row[name] !== undefined);
        (isWhole && meaning === 'same' && age === 'new' ? found : undecided).push(row);
      }
    } catch (cause) {
      if (found.length === 0) throw cause;
    }
    return { found: seriesOnce(found), undecided: seriesOnce(undecided) };
  };
}

/** Whether a record is what was sent: perhaps where it differs, but not in what tells its kind of record apart. */
function meaningOf({ keys, fields, fixed = [] }: Identity, each: Likenesses): Likeness {
  const telling = [...keys.map((key) => key.replace(/\..*/, '')), ...fields, ...fixed];
  if (telling.some((name) => each[name] === 'other')) return 'other';
  return Object.values(each).every((one) => one === 'same') ? 'same' : 'unsure';
}

/** The filter that selects what was sent and little else; undefined where the body lacks what it takes. */
function filterOf(resource: Resource, { keys }: Identity, sent: Row): string | undefined {
  const terms = keys.map((key) => termOf(resource, sent, key));
  if (terms.includes(undefined)) return undefined;
  // Quotes are specified in lists only: without them such a text stays out, and the rest selects a little more.
  const plain = terms.filter((term) => term !== undefined && !formatTerm(term).includes('"')) as RawTerm[];
  return plain.length === 0 ? undefined : formatFilter(plain);
}

function termOf({ fields }: Resource, sent: Row, key: string): RawTerm | undefined {
  const [name = key] = key.split('.');
  const context = { problems: [], warnings: [], mode: 'create' as const };
  const value = fields[name]?.kind.read(sent[name], name, context);
  if (isNothing(value)) return undefined;
  return { key, operator: '==', values: [String(isPlainObject(value) ? value.id : value)] };
}

/**
 * The rows of a list, whatever its order and however many it gives at a time, each with the time of the POST by the
 * service's clock, UTC milliseconds: what its answer says it is there, less what has passed here until that came.
 */
async function* listed(
  client: ApiClient,
  resource: Resource,
  filter: string,
  posted: PostAttempt,
): AsyncGenerator<{ readonly row: Row; readonly time: number }> {
  const path = pathOf(operationOf(resource, 'list'));
  const seen = new Set<string>();
  let time = Number.NaN;
  const onHead = (head: Readonly<Record<string, string>>) => {
    time = Date.parse(head.date ?? '') - posted.elapsed();
  };
  for (let lastId = '0'; ; ) {
    const query = { filter, responseFields: 'ALL', lastId };
    const { data, requestId } = await client.request({ method: 'GET', path, query, onHead, ...signalOf(posted) });
    if (!Array.isArray(data) || !data.every(isPlainObject)) {
      throw localFailure('response.malformed', 'The server sent a list that is none.', { requestId });
    }
    const fresh = data.filter((row) => !seen.has(String(row.id)));
    for (const row of fresh) {
      seen.add(String(row.id));
      yield { row, time };
    }
    if (fresh.length === 0) return;
    const ids = [lastId, ...data.map((row) => String(idOf(row) ?? 0n))].map(BigInt);
    // Of a list in another order than that of its ids, the next page would leave records out.
    if (ids.some((id, at) => id <= (ids[at - 1] ?? -1n))) {
      throw localFailure('pages.order', `A page of ${path} is not in the order of its ids.`, { requestId });
    }
    lastId = String(ids.at(-1));
  }
}

function signalOf({ signal }: PostAttempt) {
  return signal === undefined ? {} : { signal };
}

/** Whether a record was made since the time of the POST, NaN where that is not known. */
function ageOf({ lastModified }: Row, time: number): 'new' | 'old' | 'unknown' {
  const at = typeof lastModified === 'string' ? instantOf(lastModified) : undefined;
  if (at === undefined || Number.isNaN(time)) return 'unknown';
  if (at >= time - GRAIN) return 'new';
  return at < time - SKEW ? 'old' : 'unknown';
}

/** Of each series, whose records are made together, the first one (D39); all other records as they are. */
function seriesOnce(rows: readonly Row[]): Row[] {
  const inOrder = rows.toSorted((one, other) => timeOf(one.start) - timeOf(other.start));
  const series = inOrder.map(({ groupId }) => groupId);
  return inOrder.filter(({ groupId }, at) => isNothing(groupId) || series.indexOf(groupId) === at);
}

/** The record made last. */
function newestOf(rows: readonly Row[]): Row | undefined {
  return rows.toSorted((one, other) => timeOf(other.lastModified) - timeOf(one.lastModified))[0];
}

function timeOf(value: unknown): number {
  return instantOf(String(value)) ?? 0;
}

function cannotTell({ name, one }: Resource, rows: readonly Row[]) {
  const ids = idsOf(rows);
  const message = `${one} ${ids.join(', ')} may be it, and nothing tells whether it is.`;
  return localFailure('network.outcome_unknown', sentence(message), {
    hint: `Compare it with what you sent: molar ${name} get ${ids[0]}. Run the command again only if it is another one.`,
  });
}

function severalOf({ name, many }: Resource, rows: readonly Row[]): Warning {
  const ids = idsOf(rows);
  const why = 'may all be what was sent: an attempt without an answer may have been done late';
  const description = `${sentence(many)} ${ids.join(', ')} ${why}. Compare them: molar ${name} get ${ids[0]}.`;
  return { title: 'Perhaps made more than once', description, source: null };
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ id }) => String(id));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
