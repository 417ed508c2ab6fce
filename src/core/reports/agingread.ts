import { pathOf } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { readCount } from '../count.ts';
import { localFailure } from '../failure.ts';
import { mapInOrder } from '../orderedmap.ts';
import type { Row } from '../pages/page.ts';
import type { ApiClient, ApiResponse } from '../transport/client.ts';
import { checkSums } from './agingcheck.ts';
import { type Guarantor, Guarantors, readGuarantor } from './agingmerge.ts';
import { type AgingAmounts, type AgingMoney, added, moneyOf, NotMoney } from './agingmoney.ts';

export interface AgingQuestion {
  /** An id, or `ALL` for the whole organization in one. */
  readonly location: string;
  /** Terms beside location, page and guarantors. */
  readonly terms: readonly RawTerm[];
  /** Only these guarantors; everyone where undefined. */
  readonly guarantors: readonly string[] | undefined;
  readonly signal?: AbortSignal;
  /** Told after each page which one it was, and how many there are. */
  readonly onPage?: (page: number, pages: number) => void;
}

/** The aging report of one location, whole. */
export interface LocationAging {
  readonly location: string;
  readonly guarantors: readonly Guarantor[];
  /** Sums over the guarantors. */
  readonly money: AgingMoney;
  /** Answers that it came in. */
  readonly pages: number;
  /** What the server's own sums get wrong, each as a sentence. */
  readonly problems: readonly string[];
  /** Amounts that have fractions of a cent. */
  readonly fractions: number;
  /** Sums of the server that differ by no more than the rounding of such amounts. */
  readonly roundings: number;
  /** The ledger went on changing while the pages were read, so they may not belong together. */
  readonly changed: boolean;
}

/** Guarantors that one request may name (specification, Limits). */
const MOST_GUARANTORS = 50;

/** A ledger that changes while its pages are read is read again, this often in all. */
const READINGS = 3;

/** Pages that are asked for at once: the server makes one while another is read here. */
const AT_ONCE = 3;

/**
 * Every page of a location, or all guarantors asked for, merged (D35). Page 1 tells how many pages there are and is
 * asked for again at the end, since a transaction entered in between moves guarantors from page to page. Throws an
 * ApiFailure of status 404 when there is no data, and a Failure with exit code 8 on an answer that cannot be read.
 */
export async function readLocation(
  client: ApiClient,
  operation: Operation,
  question: AgingQuestion,
): Promise<LocationAging> {
  const reader = new Reader(client, operation, question);
  let changed = false;
  for (let reading = 1; reading <= READINGS; reading++) {
    const found = question.guarantors === undefined ? await reader.pages() : await reader.named(question.guarantors);
    changed = found.pages > 1 && question.guarantors === undefined && (await reader.hasChanged());
    if (!changed || reading === READINGS) return whole(question.location, found, changed);
  }
  throw new RangeError('A location is read at least once.');
}

/** What answers held, merged as they came, so that none of them has to be kept. */
class Found {
  readonly guarantors = new Guarantors();
  readonly problems: string[] = [];
  pages = 0;
  fractions = 0;
  roundings = 0;

  take(answer: ApiResponse, name: string): void {
    const { guarantors, checked } = readAnswer(answer, name);
    for (const guarantor of guarantors) this.guarantors.add(guarantor);
    this.fractions += checked.fractions;
    this.roundings += checked.roundings;
    for (const problem of checked.problems) this.problems.push(`${name}: ${problem}`);
    this.pages++;
  }
}

function whole(location: string, found: Found, changed: boolean): LocationAging {
  const guarantors = found.guarantors.sorted();
  return {
    location,
    guarantors,
    money: moneyOf(added(amountsOfAll(guarantors))),
    pages: found.pages,
    fractions: found.fractions,
    roundings: found.roundings,
    problems: found.problems.map((problem) => `Location ${location}, ${problem}.`),
    changed,
  };
}

/** Not as a list of its own: there may be a million. */
export function* amountsOfAll(guarantors: readonly Guarantor[]): Generator<AgingAmounts> {
  for (const { amounts } of guarantors) yield amounts;
}

class Reader {
  private readonly client: ApiClient;
  private readonly operation: Operation;
  private readonly question: AgingQuestion;
  private transactions = 0;

  constructor(client: ApiClient, operation: Operation, question: AgingQuestion) {
    this.client = client;
    this.operation = operation;
    this.question = question;
  }

  async pages(): Promise<Found> {
    const first = await this.page(1);
    const { limit, total } = paginationOf(first);
    this.transactions = total;
    const pages = Math.max(1, Math.ceil(total / limit));
    const found = new Found();
    found.take(first, 'page 1');
    this.question.onPage?.(1, pages);
    for await (const answer of mapInOrder(numbers(2, pages), AT_ONCE, (page) => this.page(page))) {
      found.take(answer, `page ${found.pages + 1}`);
      this.question.onPage?.(found.pages, pages);
    }
    return found;
  }

  async hasChanged(): Promise<boolean> {
    return paginationOf(await this.page(1)).total !== this.transactions;
  }

  async named(guarantors: readonly string[]): Promise<Found> {
    const found = new Found();
    for (let at = 0; at < guarantors.length; at += MOST_GUARANTORS) {
      const values = guarantors.slice(at, at + MOST_GUARANTORS);
      const answer = await this.ask({ key: 'patient.id', operator: '->', values });
      found.take(answer, `guarantors ${at + 1} to ${at + values.length}`);
    }
    return found;
  }

  private page(number: number): Promise<ApiResponse> {
    return this.ask({ key: 'page', operator: '==', values: [String(number)] });
  }

  private ask(which: RawTerm): Promise<ApiResponse> {
    const { location, terms, signal } = this.question;
    const filter = formatFilter([{ key: 'location.id', operator: '==', values: [location] }, ...terms, which]);
    const request = { method: 'GET', path: pathOf(this.operation), query: { filter } } as const;
    return this.client.request(signal === undefined ? request : { ...request, signal });
  }
}

async function* numbers(first: number, last: number): AsyncGenerator<number> {
  for (let number = first; number <= last; number++) yield number;
}

function paginationOf({ meta, requestId }: ApiResponse): { readonly limit: number; readonly total: number } {
  const pagination = isPlainObject(meta?.pagination) ? meta.pagination : {};
  const [limit, total] = [readCount(pagination.limit), readCount(pagination.total)];
  if (limit !== undefined && limit > 0 && total !== undefined) return { limit, total };
  const message = 'Page 1 of the aging report does not say how many transactions there are (meta.pagination).';
  throw localFailure('response.malformed', message, { requestId });
}

function readAnswer({ data, requestId }: ApiResponse, name: string) {
  const malformed = (what: string) =>
    localFailure('response.malformed', `The aging report cannot be read: ${name} ${what}.`, { requestId });
  if (!isPlainObject(data)) throw malformed('has no data');
  const records = data.patientReports ?? [];
  if (!Array.isArray(records) || !records.every(isRecord)) throw malformed('has guarantors without an id');
  try {
    const guarantors = records.map(readGuarantor);
    return { guarantors, checked: checkSums(data, guarantors) };
  } catch (cause) {
    throw cause instanceof NotMoney ? malformed(`has an amount that is none: ${cause.message}`) : cause;
  }
}

function isRecord(value: unknown): value is Row {
  return isPlainObject(value) && (typeof value.id === 'string' || readCount(value.id) !== undefined);
}
