import type { Warning } from '../../../src/catalog/failures.ts';
import type { ApiClient } from '../../../src/core/transport/client.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, SleepLog } from '../transport/script.ts';

export type Stored = { readonly id: number; readonly [name: string]: unknown };

/** How a POST ends that is no clear yes or no. */
export const ENDS = ['cut', 408, 500, 502, 503, 504, 'page', 'nothing'] as const;
export type End = (typeof ENDS)[number];

/**
 * What goes wrong with one POST, and whether it is done for all that: at once, when it is looked for again, or only when
 * the next one comes.
 */
export interface Fault {
  readonly end: End;
  readonly done: boolean | 'late' | 'too late';
}

interface Habits {
  /** Milliseconds that its clock is ahead of ours. */
  readonly ahead?: number;
  /** The next id; ids need not ascend. */
  readonly nextId?: () => number;
  /** How it writes a record down. */
  readonly store?: (sent: object) => object;
  /** How it answers with one. */
  readonly show?: (record: Stored) => object;
  /** Milliseconds that a POST takes once it is done. */
  readonly takes?: number;
  /** Milliseconds from the head of a list to its end. */
  readonly listTakes?: number;
  /** The status of its lists. */
  readonly listStatus?: number;
  /** Records of a page. */
  readonly pageSize?: number;
  /** Its lists go by falling ids. */
  readonly descending?: boolean;
  /** Whether its answers have the header Date. */
  readonly date?: boolean;
}

/**
 * A service as the specification has it and no more: it takes no notice of Idempotency-Key, answers with instants
 * without milliseconds, and keeps a clock of its own.
 */
export class OtherService {
  readonly records: Stored[] = [];
  readonly clock = new SleepLog();
  readonly filters: string[] = [];
  faults: Fault[] = [];
  /** What the client was told to warn of. */
  readonly warnings: Warning[] = [];
  posts = 0;
  private late: object[] = [];
  private tooLate: object[] = [];
  private lists = 0;
  private readonly habits: Habits;

  constructor(habits: Habits = {}) {
    this.habits = habits;
  }

  /** Milliseconds of its clock. */
  now(): number {
    return this.clock.now() + (this.habits.ahead ?? 0);
  }

  add(sent: object, madeAt = this.now()): Stored {
    const { nextId = () => 900 + this.records.length, store = (same: object) => same } = this.habits;
    const lastModified = `${new Date(madeAt).toISOString().slice(0, 19)}Z`;
    const record = { lastModified, ...store(sent), id: nextId() };
    this.records.push(record);
    return record;
  }

  client(): ApiClient {
    const onWarning = (warning: Warning) => this.warnings.push(warning);
    return clientOf(this, { clock: this.clock, random: () => 0, onWarning });
  }

  readonly send: Send = async ({ method, url, body }) => {
    const response = method === 'POST' ? await this.create(JSON.parse(String(body))) : this.list(new URL(url));
    if (this.habits.date === false) return response;
    return { ...response, headers: { ...response.headers, date: new Date(this.now()).toUTCString() } };
  };

  private async create(sent: object): Promise<IncomingResponse> {
    this.posts++;
    const fault = this.faults.shift();
    for (const before of this.tooLate.splice(0)) this.add(before);
    if (fault?.done === 'late') this.late.push(sent);
    if (fault?.done === 'too late') this.tooLate.push(sent);
    const record = fault === undefined || fault.done === true ? this.add(sent) : undefined;
    await this.clock.sleep(this.habits.takes ?? 0);
    if (fault === undefined) return envelope(201, this.shown(record as Stored));
    if (fault.end === 'cut') throw new ConnectionFailure('The connection was cut.', { sent: true });
    if (fault.end === 'page') return answer(200, '<html>Sign in</html>');
    if (fault.end === 'nothing') return envelope(200, null);
    return fault.end === 502 || fault.end === 504 ? answer(fault.end, '<html>') : envelope(fault.end, null);
  }

  private list(url: URL): IncomingResponse {
    const filter = url.searchParams.get('filter') ?? '';
    this.filters.push(filter);
    const { listStatus = 200, pageSize = 2, descending = false } = this.habits;
    if (listStatus !== 200) return envelope(listStatus, null);
    const page = this.records
      .filter((record) => Number(record.id) > Number(url.searchParams.get('lastId')) && fits(record, filter))
      .sort((one, other) => (descending ? other.id - one.id : one.id - other.id))
      .slice(0, pageSize);
    // What is done late is there from the second look on.
    if (page.length === 0 && ++this.lists === 1) for (const sent of this.late.splice(0)) this.add(sent);
    const { body, ...head } = envelope(
      200,
      page.map((record) => this.shown(record)),
    );
    return { ...head, body: this.slowly(body) };
  }

  private async *slowly(body: IncomingResponse['body']): IncomingResponse['body'] {
    await this.clock.sleep(this.habits.listTakes ?? 0);
    yield* body;
  }

  private shown(record: Stored): object {
    return this.habits.show?.(record) ?? record;
  }
}

/** Terms of the form key==value, the key a field or the id of a link. */
function fits(record: Stored, filter: string): boolean {
  return filter.split(',').every((term) => {
    const [, name = '', part, value] = /^(\w+)(\.id)?==([^"]+)$/.exec(term) ?? [];
    if (value === undefined) throw new Error(`Not specified: ${term}`);
    const stored = part === undefined ? record[name] : (record[name] as { id: unknown } | null)?.id;
    return String(stored) === value;
  });
}

function envelope(status: number, data: unknown): IncomingResponse {
  const errors = status < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'Why.', source: null }];
  return answer(status, { data, warnings: [], errors });
}
