import { pathOf } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { formatFilter, type RawTerm } from '../../catalog/filter/grammar.ts';
import { readCount } from '../count.ts';
import { localFailure } from '../failure.ts';
import { mapInOrder } from '../orderedmap.ts';
import type { Row } from '../pages/page.ts';
import type { ApiClient, ApiResponse } from '../transport/client.ts';
import {
  type AgingAmounts,
  type AgingMoney,
  added,
  addedUp,
  amountIn,
  fractionsOf,
  type Guarantor,
  Guarantors,
  imbalanceOf,
  moneyOf,
  NotMoney,
  readGuarantor,
  sumsMoney,
  totalOf,
} from './agingmoney.ts';
import { exactText, isFraction, PARTS_OF_CENT } from './money.ts';

/** What is to be read of one location. */
export interface LocationQuery {
  /** An id, or `ALL` for the organization as one. */
  readonly location: string;
  /** Terms beside location, page and guarantors. */
  readonly terms: readonly RawTerm[];
  /** Only these guarantors; everyone where undefined. */
  readonly guarantors: readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Called after each page with its number, and how many there are. */
  readonly onPage?: (page: number, pages: number) => void;
}

/** The complete aging report of one location. */
export interface LocationAging {
  readonly location: string;
  readonly guarantors: readonly Guarantor[];
  /** Sums over the guarantors. */
  readonly money: AgingMoney;
  /** Sums of the pages as the server states them, by the names that the API gives them, in parts of a cent. */
  readonly stated: Readonly<Record<string, number>>;
  /** Responses that it took. */
  readonly pages: number;
  /** What the server's own sums get wrong, each as a sentence. */
  readonly problems: readonly string[];
  /** Amounts that have fractions of a cent. */
  readonly fractions: number;
  /** Sums of the server that differ by no more than the rounding of such amounts. */
  readonly roundings: number;
  /** The ledger kept changing while the pages were read, so they may not belong together. */
  readonly changed: boolean;
}

/** Maximum guarantors that one request may name (specification, Limits). */
const MAX_GUARANTORS = 50;

/** Maximum times that a ledger is read which changes while its pages are read. */
const MAX_READS = 3;

/** Pages requested at once: the server makes one while another is read here. */
const CONCURRENCY = 3;

/**
 * Every page of a location, or all guarantors of the query, merged (D35). Page 1 says how many pages there are and is
 * requested again at the end, since a transaction entered in between moves guarantors from page to page. Throws an
 * ApiFailure of status 404 when there is no data, and a Failure with exit code 8 on a response that cannot be read.
 */
export async function readLocation(
  client: ApiClient,
  operation: Operation,
  query: LocationQuery,
): Promise<LocationAging> {
  const { location, terms, guarantors, signal, onPage } = query;
  const request = (which: RawTerm): Promise<ApiResponse> => {
    const filter = formatFilter([{ key: 'location.id', operator: '==', values: [location] }, ...terms, which]);
    return client.request({ method: 'GET', path: pathOf(operation), query: { filter }, signal });
  };
  const page = (number: number) => request({ key: 'page', operator: '==', values: [String(number)] });
  if (guarantors !== undefined) {
    const merged = new MergedPages();
    for (let at = 0; at < guarantors.length; at += MAX_GUARANTORS) {
      const values = guarantors.slice(at, at + MAX_GUARANTORS);
      const response = await request({ key: 'patient.id', operator: '->', values });
      merged.add(response, `guarantors ${at + 1} to ${at + values.length}`);
    }
    return merged.report(location, false);
  }
  for (let reads = 1; ; reads++) {
    const first = await page(1);
    const { limit, total } = paginationOf(first);
    const pages = Math.max(1, Math.ceil(total / limit));
    const merged = new MergedPages();
    merged.add(first, 'page 1');
    onPage?.(1, pages);
    for await (const response of mapInOrder(numbers(2, pages), CONCURRENCY, page)) {
      merged.add(response, `page ${merged.pages + 1}`);
      onPage?.(merged.pages, pages);
    }
    const changed = pages > 1 && paginationOf(await page(1)).total !== total;
    if (!changed || reads === MAX_READS) return merged.report(location, changed);
  }
}

async function* numbers(first: number, last: number): AsyncGenerator<number> {
  for (let number = first; number <= last; number++) yield number;
}

/** The content of responses, merged as they arrive, so that none of them has to be buffered. */
class MergedPages {
  pages = 0;
  private readonly guarantors = new Guarantors();
  private readonly problems: string[] = [];
  private readonly stated: Record<string, number> = {};
  private fractions = 0;
  private roundings = 0;

  add(response: ApiResponse, name: string): void {
    const { guarantors, checked } = readPage(response, name);
    for (const guarantor of guarantors) this.guarantors.add(guarantor);
    this.fractions += checked.fractions;
    this.roundings += checked.roundings;
    for (const [sum, parts] of Object.entries(checked.stated)) this.stated[sum] = (this.stated[sum] ?? 0) + parts;
    for (const problem of checked.problems) this.problems.push(`${name}: ${problem}`);
    this.pages++;
  }

  report(location: string, changed: boolean): LocationAging {
    const { pages, stated, fractions, roundings } = this;
    const guarantors = this.guarantors.sorted();
    const problems = this.problems.map((problem) => `Location ${location}, ${problem}.`);
    return {
      location,
      guarantors,
      money: moneyOf(addedUp(guarantors)),
      stated,
      pages,
      fractions,
      roundings,
      problems,
      changed,
    };
  }
}

function paginationOf({ meta, requestId }: ApiResponse): { readonly limit: number; readonly total: number } {
  const pagination = isPlainObject(meta?.pagination) ? meta.pagination : {};
  const [limit, total] = [readCount(pagination.limit), readCount(pagination.total)];
  if (limit !== undefined && limit > 0 && total !== undefined) return { limit, total };
  const message = 'Page 1 of the aging report does not say how many transactions there are (meta.pagination).';
  throw localFailure('response.malformed', message, { requestId });
}

function readPage({ data, requestId }: ApiResponse, name: string) {
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

/** What the check of one page found. */
interface CheckedSums {
  /** What is wrong, each as half a sentence. */
  readonly problems: readonly string[];
  /** The sums that the server states, or those of the guarantors where it states none; in parts of a cent. */
  readonly stated: Readonly<Record<string, number>>;
  /** Amounts of its guarantors that have fractions of a cent. */
  readonly fractions: number;
  /** Sums that differ by no more than the rounding of such amounts. */
  readonly roundings: number;
}

/** Half a cent: what rounding an amount can take away or add. */
const ROUNDING = PARTS_OF_CENT / 2;

/**
 * Compares the sums of one page exactly: a guarantor whose buckets and credits are not the balance, and sums that are
 * not those of the guarantors (specification, Aging balances report, Paging rule 5). Sums that the server leaves out
 * are not checked. Throws NotMoney.
 */
function checkSums(data: Row, guarantors: readonly Guarantor[]): CheckedSums {
  const problems: string[] = [];
  const statedSums: Record<string, number> = {};
  let roundings = 0;
  /** `difference`: in parts of a cent, between sums of which `fractions` amounts have fractions of a cent. */
  const compare = (difference: number, fractions: number, problem: () => string) => {
    if (difference === 0) return;
    if (Math.abs(difference) <= fractions * ROUNDING) roundings++;
    else problems.push(problem());
  };
  const compareSum = (name: string, stated: number, sum: number, fractions: number) =>
    compare(
      stated - sum,
      fractions + Number(isFraction(stated)),
      () => `${name} is ${exactText(stated)} but its guarantors add up to ${exactText(sum)}`,
    );
  for (const { id, amounts } of guarantors) {
    compare(imbalanceOf(amounts), balanceFractions(moneyOf(fractionsOf(amounts))), () => balanceProblem(id, amounts));
  }
  const counts = added(guarantors.map(({ amounts }) => fractionsOf(amounts)));
  const countsByName = moneyOf(counts);
  const fractions: Row = { ...sumsMoney(countsByName), balance: balanceFractions(countsByName) };
  for (const [name, sum] of Object.entries(sumsMoney(moneyOf(addedUp(guarantors))))) {
    const stated = data[name];
    if (typeof sum === 'number') statedSums[name] = stated == null ? sum : amountIn(data, name);
    if (stated === undefined || stated === null) continue;
    if (typeof sum === 'number') {
      compareSum(name, amountIn(data, name), sum, fractions[name] as number);
      continue;
    }
    if (typeof stated !== 'object') throw new NotMoney(name);
    for (const [part, partSum] of Object.entries(sum as Row)) {
      const partFractions = (fractions[name] as Row)[part] as number;
      compareSum(`${name}.${part}`, amountIn(stated as Row, part), partSum as number, partFractions);
    }
  }
  return { problems, stated: statedSums, roundings, fractions: counts.reduce((total, count) => total + count, 0) };
}

function balanceProblem(id: string, amounts: AgingAmounts): string {
  const money = moneyOf(amounts);
  const figures = `${exactText(totalOf(money))} and credits ${exactText(money.credits)}`;
  return `guarantor ${id} has buckets of ${figures} but a balance of ${exactText(money.balance)}`;
}

/** How many amounts with fractions of a cent the check of a balance adds. */
function balanceFractions(counts: AgingMoney): number {
  return totalOf(counts) + counts.credits + counts.balance;
}
