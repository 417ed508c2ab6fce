import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, formatTerm, type RawTerm } from '../../catalog/filter/grammar.ts';
import { localFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { ApiClient } from '../transport/client.ts';
import type { PostAttempt, WriteLookups } from '../transport/uncertainwrite.ts';
import { eventLikenesses, instantOf, isNothing, type Likeness, type Likenesses, likenesses } from './likeness.ts';

/** Milliseconds that a record may seem older than its POST, as `Date` and `lastModified` may be cut to the second. */
const GRAIN = 2000;

/**
 * Milliseconds that the clocks behind a service's `Date` and `lastModified` may differ. They are one as a rule; a record
 * older than the POST by no more than this counts neither as its own nor as an earlier one.
 */
const SKEW = 2 * 60_000;

/** How records of a resource are distinguished. */
interface Identity {
  /** Filter keys specified with `==`, none of which a service could store in other words, as it may a name. */
  readonly keys: readonly string[];
  /** Fields without which a record could be any. */
  readonly fields: readonly string[];
  /** Further fields that no service changes on storing: a record that differs in one is another record. */
  readonly fixed?: readonly string[];
}

/** Fields that place an event in the calendar, except a series' first and last day, which a service may move. */
const PLACEMENT = ['operatory', 'provider', 'allDay', 'recurrenceType', 'recurrenceFrequency'];
const ON_DAYS = ['recurrenceDays', 'recurrenceWeek', 'recurrenceDay'];

const IDENTITIES: Readonly<Record<string, Identity>> = {
  patients: { keys: ['dateOfBirth', 'preferredLocation.id'], fields: ['firstName', 'lastName'] },
  events: { keys: ['title', 'location.id'], fields: ['title', 'start'], fixed: [...PLACEMENT, ...ON_DAYS] },
  transactiontags: { keys: ['tagType'], fields: ['tagText'] },
  appointments: { keys: ['patient.id'], fields: ['start', 'operatory'] },
};

/**
 * Lookups that tell whether a POST of unknown outcome made its record (D49): one that means what was sent and is not
 * older than the POST, by the service's own clock. A record that may be it makes the outcome unknown: one of uncertain
 * age, or that differs in what a service may change on storing. So does a list that cannot be read. Where records have
 * no time of change, any counts. The client warns of several, which late attempts may leave. Empty for a resource or
 * body that cannot be looked up.
 */
export function createdRecordLookups(client: ApiClient, resource: Resource, sent: unknown): WriteLookups {
  const find = finderFor(client, resource, sent);
  if (find === undefined) return {};
  return {
    lookUp: async (post) => {
      const { found, undecided } = await find(post);
      if (found.length === 0 && undecided.length > 0) throw undecidable(resource, undecided);
      if (found.length > 1) client.warn(duplicateWarning(resource, found));
      return newestOf(found);
    },
    // Before the last attempt there was no candidate, or it would not have been made.
    checkDuplicates: async (post) => {
      const { found, undecided } = await find(post);
      const made = seriesOnce([...found, ...undecided]);
      if (made.length > 1) client.warn(duplicateWarning(resource, made));
    },
  };
}

/** Records that mean what was sent, and those that may; one of each series. */
interface Candidates {
  readonly found: readonly Row[];
  readonly undecided: readonly Row[];
}

type Finder = (post: PostAttempt) => Promise<Candidates>;

function finderFor(client: ApiClient, resource: Resource, sent: unknown): Finder | undefined {
  const identity = IDENTITIES[resource.name];
  if (identity === undefined || !isPlainObject(sent)) return undefined;
  const filter = filterOf(resource, identity, sent);
  if (filter === undefined) return undefined;
  const like = resource.name === 'events' ? eventLikenesses : likenesses;
  const hasTime = resource.fields.lastModified !== undefined;
  return async (post) => {
    const found: Row[] = [];
    const undecided: Row[] = [];
    try {
      for await (const { row, time } of listed(client, resource, filter, post)) {
        const meaning = meaningOf(identity, like(resource.fields, sent, row));
        const age = hasTime ? ageOf(row, time) : 'new';
        if (meaning === 'other' || age === 'old') continue;
        const isIdentified = identity.fields.every((name) => row[name] !== undefined);
        (isIdentified && meaning === 'same' && age === 'new' ? found : undecided).push(row);
      }
    } catch (cause) {
      if (found.length === 0) throw cause;
    }
    return { found: seriesOnce(found), undecided: seriesOnce(undecided) };
  };
}

/** Whether a record means what was sent; unsure where it differs, but not in what identifies it. */
function meaningOf({ keys, fields, fixed = [] }: Identity, each: Likenesses): Likeness {
  const identifying = [...keys.map((key) => key.replace(/\..*/, '')), ...fields, ...fixed];
  if (identifying.some((name) => each[name] === 'other')) return 'other';
  return Object.values(each).every((one) => one === 'same') ? 'same' : 'unsure';
}

/** The filter that selects what was sent and little else; undefined where the body lacks the fields for it. */
function filterOf(resource: Resource, { keys }: Identity, sent: Row): string | undefined {
  const terms = keys.map((key) => termOf(resource, sent, key));
  if (terms.includes(undefined)) return undefined;
  // Quotes are specified in lists only: a text that needs them is left out, and the rest selects a little more.
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
 * The rows of a list, whatever its order and page size, each with the time of the POST by the service's clock, UTC
 * milliseconds: the `Date` of its response, less what had passed here by then.
 */
async function* listed(
  client: ApiClient,
  resource: Resource,
  filter: string,
  post: PostAttempt,
): AsyncGenerator<{ readonly row: Row; readonly time: number }> {
  const path = pathOf(operationOf(resource, 'list'));
  const seen = new Set<string>();
  let time = Number.NaN;
  const onHead = (head: Readonly<Record<string, string>>) => {
    time = Date.parse(head.date ?? '') - post.elapsed();
  };
  for (let lastId = '0'; ; ) {
    const query = { filter, responseFields: 'ALL', lastId };
    const { data, requestId } = await client.request({ method: 'GET', path, query, onHead, signal: post.signal });
    if (!Array.isArray(data) || !data.every(isPlainObject)) {
      throw localFailure('response.malformed', 'The server sent a list that is not one.', { requestId });
    }
    const fresh = data.filter((row) => !seen.has(String(row.id)));
    for (const row of fresh) {
      seen.add(String(row.id));
      yield { row, time };
    }
    if (fresh.length === 0) return;
    const ids = [lastId, ...data.map((row) => String(idOf(row) ?? 0n))].map(BigInt);
    // In another order than that of the ids, the next page would skip records.
    if (ids.some((id, at) => id <= (ids[at - 1] ?? -1n))) {
      throw localFailure('pages.order', `A page of ${path} is not in the order of its ids.`, { requestId });
    }
    lastId = String(ids.at(-1));
  }
}

/** Whether a record was made since the time of the POST, which is NaN where unknown. */
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

function undecidable({ name, one }: Resource, rows: readonly Row[]) {
  const ids = idsOf(rows);
  const message = `${one} ${ids.join(', ')} may be it, which cannot be decided.`;
  return localFailure('network.outcome_unknown', sentence(message), {
    hint: `Compare it with what you sent: molar ${name} get ${ids[0]}. Run the command again only if it is another one.`,
  });
}

function duplicateWarning({ name, many }: Resource, rows: readonly Row[]): Warning {
  const ids = idsOf(rows);
  const why = 'may all be what was sent: an attempt without a response may have been done late';
  const description = `${sentence(many)} ${ids.join(', ')} ${why}. Compare them: molar ${name} get ${ids[0]}.`;
  return { title: 'Perhaps created more than once', description, source: null };
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ id }) => String(id));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
