import type { IncomingResponse, OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { answer, success } from '../transport/script.ts';

export interface FakeRow {
  readonly id: number;
  /** ISO 8601, UTC; a record may have none. */
  readonly lastModified?: string;
  readonly [field: string]: unknown;
}

/** What a service does with a list; by default nothing but what was asked for. */
export interface Habits {
  /** Rows of its pages, whatever was asked for. */
  readonly ownSize?: number;
  /** Applied when no bound on the key was sent. */
  readonly since?: string;
  readonly key?: string;
  /** Milliseconds of the widest range that it answers. */
  readonly widest?: number;
  readonly newestFirst?: boolean;
  readonly needsLocation?: boolean;
  readonly counts?: boolean;
  /** In front of everything; undefined leaves the answer to the service. */
  readonly instead?: (query: Readonly<Record<string, string>>, path: string) => IncomingResponse | undefined;
}

type Range = { from: number; to: number; bounded: boolean };

/** A list of one kind behind an HTTP API, as stubborn as its habits; shares nothing with the client. */
export class FakeService {
  rows: readonly FakeRow[];
  readonly queries: Readonly<Record<string, string>>[] = [];
  private readonly habits: Habits;

  constructor(rows: readonly FakeRow[], habits: Habits = {}) {
    this.rows = rows;
    this.habits = habits;
  }

  readonly send: Send = async (request: OutgoingRequest) => {
    request.signal?.throwIfAborted();
    const { pathname, searchParams } = new URL(request.url);
    const query = Object.fromEntries(searchParams);
    this.queries.push({ ...query, path: pathname.split('/').slice(3).join('/') });
    return this.habits.instead?.(query, pathname) ?? this.answerTo(query, pathname);
  };

  private answerTo(query: Readonly<Record<string, string>>, path: string): IncomingResponse {
    const { needsLocation = false, widest = Number.POSITIVE_INFINITY, counts = true } = this.habits;
    const { filter = '' } = query;
    if (needsLocation && !filter.includes('ocation.id->["ALL"]')) return answer(400, { data: null, errors: [{}] });
    const range = this.rangeOf(filter);
    if (range.bounded && range.to - range.from > widest) return answer(408, '');
    const found = this.rows.filter((row) => this.isIn(row, range) && partOf(filter, row));
    if (path.endsWith('/totalcount')) return counts ? success({ total: found.length }) : answer(404, '');
    return success(this.pageOf(found, query, range.bounded));
  }

  private rangeOf(filter: string): Range {
    const { key = 'lastModified', since } = this.habits;
    const bounds = [...filter.matchAll(new RegExp(`${key}(>=|<)([^,]+)`, 'g'))];
    const of = (operator: string) => bounds.find((bound) => bound[1] === operator)?.[2];
    const bounded = bounds.length > 0;
    const from = bounded ? of('>=') : since;
    const to = of('<') ?? '2027-01-01T00:00:00Z';
    return { from: Date.parse(from ?? '0001-01-01'), to: Date.parse(to), bounded: bounded || since !== undefined };
  }

  private isIn(row: FakeRow, { from, to, bounded }: Range): boolean {
    const { key = 'lastModified' } = this.habits;
    const time = Date.parse(String(row[key]));
    return !bounded || (time >= from && time < to);
  }

  private pageOf(found: readonly FakeRow[], query: Readonly<Record<string, string>>, bounded: boolean) {
    const { ownSize = 500, newestFirst = false } = this.habits;
    const { page, lastId, pageSize = '100' } = query;
    const size = Math.min(ownSize, Number(pageSize));
    const byId = found.toSorted((a, b) => a.id - b.id);
    const newest = found.toSorted((a, b) => String(b.lastModified).localeCompare(String(a.lastModified)));
    const ordered = newestFirst && bounded ? newest : page === undefined ? byId : found;
    if (page !== undefined) return ordered.slice((Number(page) - 1) * size, Number(page) * size);
    return ordered.filter(({ id }) => id > Number(lastId ?? 0)).slice(0, size);
  }
}

function partOf(filter: string, { tagType }: FakeRow): boolean {
  const [, operator, type] = /tagType(==|!=)(\w+)/.exec(filter) ?? [];
  return operator === undefined || (tagType === type) === (operator === '==');
}
