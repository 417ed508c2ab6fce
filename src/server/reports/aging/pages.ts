import sql from 'sql-template-tag';
import type { OperationRequest } from '../../service.ts';
import type { Reach } from '../../store/reach.ts';
import type { Reader, Store } from '../../store/store.ts';
import { ledgerOf } from './within.ts';

/** First and last guarantor of a page. */
export interface GuarantorRange {
  readonly first: number;
  readonly last: number;
}

/** The pages of a location that hold guarantors, by page number, and how many active transactions there are. */
interface Directory {
  /** What it was made from; the same as long as nothing that it depends on has changed. */
  readonly version: unknown;
  readonly total: number;
  readonly pages: ReadonlyMap<number, GuarantorRange>;
}

/** Directories of one store, the least recently used first. */
const directories = new WeakMap<Store, Map<string, Directory>>();
const MAX_DIRECTORIES = 256;

/**
 * The guarantors of a page: transactions are counted guarantor by guarantor in the order of ids, and a guarantor
 * belongs to the page that its first one falls in (D35). The directory of a location is made once after each change
 * of the ledger, at a cost that grows with the location; every page then is a look-up.
 */
export async function pagesOf(request: OperationRequest, location: number | 'ALL'): Promise<Directory> {
  const { service, organization } = request;
  const { read } = service.store;
  const cache = directories.get(service.store) ?? new Map<string, Directory>();
  directories.set(service.store, cache);
  const { org, locations } = organization;
  const name = `${org} ${location} ${service.agingPageLimit} ${JSON.stringify(locations)}`;
  // Where a patient is, is no part of the ledger.
  const version = locations === undefined ? await versionOf(read, org) : service.store.countCache();
  const known = cache.get(name);
  const directory =
    known?.version === version
      ? known
      : await makeDirectory(read, organization, location, service.agingPageLimit, version);
  cache.delete(name);
  cache.set(name, directory);
  if (cache.size > MAX_DIRECTORIES) cache.delete(cache.keys().next().value as string);
  return directory;
}

/** Changes with every change of an organization's ledger, whichever process made it. */
async function versionOf(read: Reader, org: number): Promise<number> {
  return (
    (await read.get<{ version: number }>(sql`SELECT version FROM ledger_versions WHERE org = ${org}`))?.version ?? 0
  );
}

interface PageRow extends GuarantorRange {
  readonly page: number;
  readonly transactions: number;
}

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
  };
}
