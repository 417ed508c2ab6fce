import sql from 'sql-template-tag';
import type { OperationRequest } from '../../service.ts';
import type { Reach } from '../../store/reach.ts';
import type { Reader, Store } from '../../store/store.ts';
import { GuarantorOrder } from './blocks.ts';
import { ledgerOf } from './within.ts';

/** First and last guarantor of a page; there may be none between them. */
export interface GuarantorRange {
  readonly first: number;
  readonly last: number;
}

/** What is known of the pages of a location, and how many active transactions there are. */
interface Directory {
  /** What it was made from; the same as long as nothing that it depends on has changed. */
  readonly version: unknown;
  readonly total: number;
  readonly pages: Map<number, GuarantorRange>;
  /** No other page has guarantors. */
  readonly complete: boolean;
}

/** A page: its guarantors, and how many transactions all pages have. */
interface Page {
  readonly guarantors: GuarantorRange | undefined;
  readonly total: number;
}

/** Directories of one store, the least recently used first. */
const directories = new WeakMap<Store, Map<string, Directory>>();
const MAX_DIRECTORIES = 256;

/** Attempts to find a page while the ledger changes, before it is found in one statement. */
const MAX_ATTEMPTS = 3;

/**
 * The guarantors of a page: transactions are counted guarantor by guarantor in the order of ids, and a guarantor
 * belongs to the page that its first one falls in (D35). After a change of the ledger a page is found by its blocks, at a
 * cost that hardly grows with it. Of all locations of a caller who is bound to some, what is counted depends on where
 * patients are: there all pages are found at once, at a cost that grows with the ledger.
 */
export async function pageOf(request: OperationRequest, location: number | 'ALL', page: number): Promise<Page> {
  const { service, organization } = request;
  const { read } = service.store;
  const { org, locations } = organization;
  const limit = service.agingPageLimit;
  const name = `${org} ${location} ${limit} ${JSON.stringify(locations)}`;
  const whole = location !== 'ALL' || locations === undefined;
  const versionNow = async () => (whole ? versionsOf(read, org) : { version: service.store.countCache(), counted: 0 });
  let { version, counted } = await versionNow();
  for (let attempt = 1; ; attempt++) {
    const known = recall(service.store, name, version);
    if (known !== undefined && (known.complete || known.pages.has(page))) return answer(known, page);
    if (counted !== version || attempt > MAX_ATTEMPTS) break;
    const order = new GuarantorOrder(read, org, location);
    const directory = known ?? { version, total: await order.total(), pages: new Map(), complete: false };
    // What is behind the last page is not kept: anybody may ask for any number.
    if ((page - 1) * limit < directory.total) {
      const [first, next] = await Promise.all([order.after((page - 1) * limit), order.after(page * limit)]);
      directory.pages.set(page, { first, last: next - 1 });
    }
    const before = version;
    ({ version, counted } = await versionNow());
    if (version !== before) continue;
    remember(service.store, name, directory);
    return answer(directory, page);
  }
  const directory = await makeDirectory(read, organization, location, limit, version);
  remember(service.store, name, directory);
  return answer(directory, page);
}

function answer({ pages, total }: Directory, page: number): Page {
  return { guarantors: pages.get(page), total };
}

function recall(store: Store, name: string, version: unknown): Directory | undefined {
  const known = directories.get(store)?.get(name);
  if (known === undefined || known.version !== version) return undefined;
  remember(store, name, known);
  return known;
}

function remember(store: Store, name: string, directory: Directory): void {
  const cache = directories.get(store) ?? new Map<string, Directory>();
  directories.set(store, cache);
  cache.delete(name);
  cache.set(name, directory);
  if (cache.size > MAX_DIRECTORIES) cache.delete(cache.keys().next().value as string);
}

/**
 * The version of an organization's ledger, which changes with it, whichever process changes it, and the one that its
 * blocks are of: they differ where an earlier molar changed the ledger last.
 */
async function versionsOf(
  read: Reader,
  org: number,
): Promise<{ readonly version: unknown; readonly counted: unknown }> {
  const row = await read.get<{ version: number; counted: number }>(
    sql`SELECT version, counted FROM ledger_versions WHERE org = ${org}`,
  );
  return row ?? { version: 0, counted: 0 };
}

interface PageRow extends GuarantorRange {
  readonly page: number;
  readonly transactions: number;
}

/** All pages, from one state of the ledger. */
async function makeDirectory(
  read: Reader,
  reach: Reach,
  location: number | 'ALL',
  limit: number,
  version: unknown,
): Promise<Directory> {
  const rows = await read.all<PageRow>(sql`
    SELECT CAST(before AS BIGINT) / CAST(${limit} AS BIGINT) + 1 AS page, MIN(guarantor_id) AS first, MAX(guarantor_id) AS last,
      SUM(transactions) AS transactions
    FROM (
      SELECT guarantor_id, transactions,
        SUM(transactions) OVER (ORDER BY guarantor_id ROWS UNBOUNDED PRECEDING) - transactions AS before
      FROM (SELECT l.guarantor_id, COUNT(*) AS transactions FROM ledger l WHERE ${ledgerOf(reach, location)} GROUP BY l.guarantor_id) counts
    ) ordinals
    GROUP BY page ORDER BY page`);
  return {
    version,
    total: rows.reduce((sum, row) => sum + row.transactions, 0),
    pages: new Map(rows.map(({ page, first, last }) => [page, { first, last }])),
    complete: true,
  };
}
