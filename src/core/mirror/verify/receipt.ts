import { createHash } from 'node:crypto';
import { quoted } from '../names.ts';
import type { MirrorDatabase, Target } from '../sql/database.ts';
import type { SqlMirror } from '../sql/sqlmirror.ts';
import { wholeOf } from '../status.ts';
import type { ResourceState } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import type { DifferentRecord, VerifiedResource } from './verifyrun.ts';

/** What a comparison found, as `molar mirror verify --json` prints it (D52). */
export interface VerifyReport {
  readonly file: string;
  readonly asOf: string | null;
  readonly complete: boolean;
  readonly differences: number;
  readonly repaired: number;
  /** Path of the receipt. */
  readonly receipt: string;
  readonly resources: readonly VerifyReportResource[];
}

/** One resource of it. */
export interface VerifyReportResource {
  readonly resource: string;
  readonly rows: number;
  readonly serverRows: number;
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly different: readonly DifferentRecord[];
  readonly repaired: number;
  readonly complete: boolean;
}

/** What makes a report and its receipt. */
interface Verified {
  readonly store: SqlMirror;
  readonly resources: readonly VerifiedResource[];
  readonly receipt: string;
  /** UTC. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly sample: number | undefined;
  /** Resources that were asked for by their names. */
  readonly named: readonly string[];
}

/**
 * Resources that should have been compared, and were not. One that the service does not give is among them only where it
 * was named, or where nothing at all was compared.
 */
export function notCompared(resources: readonly VerifiedResource[], named: readonly string[]): VerifiedResource[] {
  const isAnyCompared = resources.some(({ complete }) => complete);
  return resources.filter(({ table, complete, unavailable }) => {
    return !complete && (unavailable === null || named.includes(table.resource.name) || !isAnyCompared);
  });
}

/** The report of a comparison. */
export async function reportOf({ store, resources, receipt, named }: Verified): Promise<VerifyReport> {
  const sum = (name: 'differences' | 'repaired') => resources.reduce((total, each) => total + each[name], 0);
  return {
    file: store.name,
    asOf: wholeOf(await statesOf(store, resources)).asOf,
    complete: notCompared(resources, named).length === 0,
    ...{ differences: sum('differences'), repaired: sum('repaired'), receipt },
    resources: resources.map(({ table, rows, serverRows, missing, extra, different, repaired, complete }) => {
      return { resource: table.resource.name, rows, serverRows, missing, extra, different, repaired, complete };
    }),
  };
}

/**
 * The receipt of a comparison: the report, what was compared with what and when, and digests that anybody can compute
 * again who has the database as it was then, or another copy of the same practice.
 */
export async function receiptOf(verified: Verified): Promise<string> {
  const { store, startedAt, endedAt, sample } = verified;
  const { organization, url, columns, timezone } = store.facts;
  const { position } = wholeOf(await statesOf(store, verified.resources));
  const { receipt: _, ...report } = await reportOf(verified);
  const resources: object[] = [];
  for (const [index, each] of verified.resources.entries()) {
    resources.push({
      ...report.resources[index],
      ...{
        unavailable: each.unavailable,
        failure: (store.facts.deidentified ? each.failure?.code : each.failure?.message) ?? null,
      },
      tables: each.complete ? await digestsOf(store, each.table) : [],
    });
  }
  const result = resultOf(report);
  const mode = sample === undefined ? { compared: 'all' } : { compared: 'sample', sample };
  return `${JSON.stringify(
    { ...report, result, ...mode, organization, url, position, columns, timezone, startedAt, endedAt, resources },
    null,
    2,
  )}\n`;
}

function resultOf({ complete, differences, repaired }: Pick<VerifyReport, 'complete' | 'differences' | 'repaired'>) {
  if (differences > repaired) return 'different';
  if (!complete) return 'incomplete';
  return differences > 0 ? 'repaired' : 'equal';
}

async function statesOf(store: SqlMirror, resources: readonly VerifiedResource[]) {
  const states = new Map<MirrorTable, ResourceState>();
  for (const { table } of resources) states.set(table, await store.resource(table));
  return states;
}

/** The digest of a table. */
interface TableDigest {
  readonly table: string;
  readonly rows: number;
  /** SQL: a line a row. */
  readonly query: string;
  /** Of the lines that the query prints, each with a line feed, in UTF-8. */
  readonly sha256: string;
}

/** Digests of the table of a resource, of its ids alone and of its columns, and of the tables of its lists. */
async function digestsOf(store: SqlMirror, { name }: MirrorTable): Promise<TableDigest[]> {
  const { database } = store;
  const { line } = database.dialect;
  const own = store.tables.tables.find((each) => each.name === name) as MirrorTable;
  const { table, columns } = await store.tables.rowsOf(own);
  const digests = [await digestOf(database, name, 'id', 'id'), await digestOf(database, name, line(columns), 'id')];
  for (const child of table.children) {
    const key: Target = { name: child.parentKey, type: 'integer' };
    const all = line([key, { name: 'ordinal', type: 'integer' }, ...child.columns]);
    digests.push(await digestOf(database, child.name, all, `${quoted(child.parentKey)}, ordinal`));
  }
  return digests;
}

async function digestOf(database: MirrorDatabase, table: string, line: string, order: string): Promise<TableDigest> {
  const query = `SELECT ${line} FROM ${quoted(table)} ORDER BY ${order}`;
  const hash = createHash('sha256');
  let rows = 0;
  for await (const lines of database.lines(query)) {
    for (const text of lines) hash.update(`${text}\n`);
    rows += lines.length;
  }
  return { table, rows, query, sha256: hash.digest('hex') };
}
