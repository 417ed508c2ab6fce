import type { Operation } from '../../catalog/define.ts';
import { formatInstant, parseInstant } from '../../catalog/fields/times.ts';
import type { FilterKey } from '../../catalog/filter/check.ts';
import { formatFilter, parseFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { type Operator, RANGE } from '../../catalog/operators.ts';
import { ApiFailure } from '../transport/apifailure.ts';

const DAY = 86_400_000;

/** The first slice is everything before it: hardly any record, since no practice management system is older. */
const FIRST = Date.UTC(1980, 0, 1);

/** Slices become narrower after a timeout, down to the minimum, and wider again while they succeed. */
const INITIAL_WIDTH = 365 * DAY;
const MAX_WIDTH = 16 * INITIAL_WIDTH;
const MIN_WIDTH = { date: DAY, dateTime: 60_000 } as const;

/** Successes after which slices may become wider than what timed out before. */
const RECOVERY = 12;

/** Whether a request timed out on the server, retries included (specification, Errors: 408). */
export function isTimeout(cause: unknown): boolean {
  return cause instanceof ApiFailure && cause.status === 408;
}

/** The key by which a read can be cut into slices of time: that of its early bound, else the time of change. */
export function sliceKey({ filters = {}, dateLimit }: Operation): FilterKey | undefined {
  return filters[dateLimit !== undefined && 'key' in dateLimit ? dateLimit.key : 'lastModified'];
}

/**
 * Reads what matches a filter slice by slice of time, for a service that times out on wide ranges (specification,
 * Patients, rule 3): in ascending order and with an open end, so that a record which is changed meanwhile is in a later
 * slice. `read` is given the filter of a slice; a slice that times out is read again in narrower ones, so its rows may
 * be yielded twice. `onUnread` is called with what could not be read. Throws what `read` throws for the narrowest.
 */
export async function* inSlices<T>(
  filter: string | undefined,
  key: FilterKey,
  now: number,
  read: (filter: string) => AsyncIterable<T>,
  onUnread: (what: string) => void,
): AsyncGenerator<T> {
  const terms = parseFilter(filter ?? '');
  const span = spanOf(terms, key, now);
  const others = terms.filter((term) => !isBound(term, key));
  const of = (from: number | undefined, to: number | undefined) =>
    formatFilter([
      ...others,
      ...(from === undefined ? span.lower : [termOf(key, '>=', from)]),
      ...(to === undefined ? span.upper : [termOf(key, '<', to)]),
    ]);
  let { from } = span;
  if (from < FIRST) {
    if (span.to <= FIRST) return yield* read(of(undefined, undefined));
    try {
      yield* read(of(undefined, FIRST));
    } catch (cause) {
      if (!isTimeout(cause)) throw cause;
      onUnread(`The server timed out on records with ${key.key} before ${new Date(FIRST).toISOString().slice(0, 10)}.`);
    }
    from = FIRST;
  }
  const bounded = (start: number, end: number | undefined) => read(of(start === span.from ? undefined : start, end));
  yield* adaptiveSlices(from, span.to, key, bounded);
}

/** Slices from `first` on, as wide as the service answers in time; `read` without an end is the last one. */
async function* adaptiveSlices<T>(
  first: number,
  last: number,
  key: FilterKey,
  read: (from: number, to: number | undefined) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const minWidth = key.value.name === 'date' ? MIN_WIDTH.date : MIN_WIDTH.dateTime;
  let width = INITIAL_WIDTH;
  let ceiling = MAX_WIDTH;
  let successes = 0;
  for (let from = first; ; ) {
    const end = from + width;
    try {
      yield* read(from, end >= last ? undefined : end);
    } catch (cause) {
      if (!isTimeout(cause) || width <= minWidth) throw cause;
      ceiling = Math.max(minWidth, Math.floor(width / 2 / minWidth) * minWidth);
      width = ceiling;
      successes = 0;
      continue;
    }
    if (end >= last) return;
    from = end;
    if (++successes % RECOVERY === 0) ceiling = Math.min(MAX_WIDTH, ceiling * 2);
    width = Math.min(ceiling, width * 2);
  }
}

interface Span {
  /** Negative infinity without a lower bound. */
  readonly from: number;
  readonly to: number;
  /** The bounds as the filter has them. */
  readonly lower: readonly RawTerm[];
  readonly upper: readonly RawTerm[];
}

/** The bounds that a filter has on a key; up to `now` without an upper one. */
function spanOf(terms: readonly RawTerm[], key: FilterKey, now: number): Span {
  const bounds = terms.filter((term) => isBound(term, key));
  const lower = bounds.filter(({ operator }) => operator.startsWith('>'));
  const upper = bounds.filter(({ operator }) => operator.startsWith('<'));
  const times = (some: readonly RawTerm[]) => some.flatMap(({ values }) => values.map(timeOf));
  return {
    from: Math.max(...times(lower)),
    to: upper.length === 0 ? now : Math.min(...times(upper)),
    lower,
    upper,
  };
}

function isBound({ key, operator }: RawTerm, { key: name }: FilterKey): boolean {
  return key === name && (RANGE as readonly Operator[]).includes(operator);
}

function timeOf(text: string): number {
  const instant = parseInstant(text, {});
  return typeof instant === 'number' ? instant : Date.parse(text.slice(0, 10));
}

function termOf(key: FilterKey, operator: '>=' | '<', time: number): RawTerm {
  const text = formatInstant(time);
  const value = key.value.name === 'date' ? text.slice(0, 10) : text.replace('.000Z', 'Z');
  return { key: key.key, operator, values: [value] };
}
