import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, formatTerm, type RawTerm } from '../../catalog/filter/grammar.ts';
import { localFailure } from '../failure.ts';
import { idOf, type Row } from '../pages/page.ts';
import type { ApiClient } from '../transport/client.ts';
import type { LookUp, Posted } from '../transport/doubt.ts';
import { eventLikeness } from './eventmeaning.ts';
import { instantOf, isNothing, likeness } from './meaning.ts';

/** How far apart the clocks of one service may be: the one of its `Date` and the one of its `lastModified`. */
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
}

const IDENTITIES: Readonly<Record<string, Identity>> = {
  patients: { keys: ['dateOfBirth', 'preferredLocation.id'], fields: ['firstName', 'lastName'] },
  events: { keys: ['title', 'location.id'], fields: ['title', 'start'] },
  transactiontags: { keys: ['tagType'], fields: ['tagText'] },
  appointments: { keys: ['patient.id'], fields: ['start', 'operatory'] },
};

/**
 * A way to tell whether a POST of unknown outcome made its record (D49): one that means what was sent and is not older
 * than the POST, by the service's own clock. A record that nothing dates makes the outcome unknown, as does a list that
 * cannot be asked; where the kind of record has no time of change, the one that is there counts. Undefined for a
 * resource, or a body, that cannot be looked up.
 */
export function createdLookUp(client: ApiClient, resource: Resource, sent: unknown): LookUp | undefined {
  const identity = IDENTITIES[resource.name];
  if (identity === undefined || !isPlainObject(sent)) return undefined;
  const filter = filterOf(resource, identity, sent);
  if (filter === undefined) return undefined;
  const like = resource.name === 'events' ? eventLikeness : likeness;
  const hasTime = resource.fields.lastModified !== undefined;
  return async (posted) => {
    const found: Row[] = [];
    const undecided: Row[] = [];
    try {
      for await (const { row, since } of listed(client, resource, filter, posted)) {
        const meaning = like(resource.fields, sent, row);
        const age = hasTime ? ageOf(row, since) : 'new';
        if (meaning === 'other' || age === 'old') continue;
        const isWhole = identity.fields.every((name) => row[name] !== undefined);
        (isWhole && meaning === 'same' && age === 'new' ? found : undecided).push(row);
      }
    } catch (cause) {
      if (found.length === 0) throw cause;
    }
    if (found.length === 0 && undecided.length > 0) throw cannotTell(resource, undecided);
    return firstOfNewest(found);
  };
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
 * service's clock, UTC milliseconds: what its answer says it is there, less what has passed here.
 */
async function* listed(
  client: ApiClient,
  resource: Resource,
  filter: string,
  posted: Posted,
): AsyncGenerator<{ readonly row: Row; readonly since: number }> {
  const path = `${API_PREFIX}${resource.operations.list?.path}`;
  const seen = new Set<string>();
  for (let lastId = '0'; ; ) {
    const query = { filter, responseFields: 'ALL', lastId };
    const { data, headers, requestId } = await client.request({ method: 'GET', path, query, ...signalOf(posted) });
    if (!Array.isArray(data) || !data.every(isPlainObject)) {
      throw localFailure('response.malformed', 'The server sent a list that is none.', { requestId });
    }
    const since = Date.parse(headers.date ?? '') - posted.elapsed() - SKEW;
    const fresh = data.filter((row) => !seen.has(String(row.id)));
    for (const row of fresh) {
      seen.add(String(row.id));
      yield { row, since };
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

function signalOf({ signal }: Posted) {
  return signal === undefined ? {} : { signal };
}

/** Whether a record was made since a time, NaN where that is not known. */
function ageOf({ lastModified }: Row, since: number): 'new' | 'old' | 'unknown' {
  const at = typeof lastModified === 'string' ? instantOf(lastModified) : undefined;
  if (at === undefined || Number.isNaN(since)) return 'unknown';
  return at >= since ? 'new' : 'old';
}

/** The record made last; of a series, whose records are made together, the first one (D39). */
function firstOfNewest(rows: readonly Row[]): Row | undefined {
  const time = (value: unknown) => instantOf(String(value)) ?? 0;
  const [newest] = rows.toSorted((one, other) => time(other.lastModified) - time(one.lastModified));
  if (isNothing(newest?.groupId)) return newest;
  const series = rows.filter(({ groupId }) => groupId === newest?.groupId);
  return series.toSorted((one, other) => time(one.start) - time(other.start))[0];
}

function cannotTell({ name, one }: Resource, rows: readonly Row[]) {
  const ids = rows.map(({ id }) => String(id));
  const message = `${one} ${ids.join(', ')} may be it, and nothing tells whether it was there before.`;
  return localFailure('network.outcome_unknown', `${message.charAt(0).toUpperCase()}${message.slice(1)}`, {
    hint: `Compare it with what you sent: molar ${name} get ${ids[0]}. Run the command again only if it is another one.`,
  });
}
