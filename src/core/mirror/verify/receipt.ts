import { createHash } from 'node:crypto';
import type { Connection } from '../../../sqlite/open.ts';
import { quoted } from '../names.ts';
import type { SqliteMirror } from '../sqlite/sqlitemirror.ts';
import { wholeOf } from '../status.ts';
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
  readonly store: SqliteMirror;
  readonly resources: readonly VerifiedResource[];
  readonly receipt: string;
  /** UTC. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly sample: number | undefined;
}

/** The report of a comparison. */
export function reportOf({ store, resources, receipt }: Verified): VerifyReport {
  const sum = (name: 'differences' | 'repaired') => resources.reduce((total, each) => total + each[name], 0);
  return {
    file: store.file,
    asOf: wholeOf(statesOf(store, resources)).asOf,
    // What was not compared proves nothing.
    complete:
      resources.some(({ complete }) => complete) &&
      resources.every(({ complete, unavailable }) => complete || unavailable !== null),
    ...{ differences: sum('differences'), repaired: sum('repaired'), receipt },
    resources: resources.map(({ table, rows, serverRows, missing, extra, different, repaired, complete }) => {
      return { resource: table.resource.name, rows, serverRows, missing, extra, different, repaired, complete };
    }),
  };
}

/**
 * The receipt of a comparison: the report, what was compared with what and when, and digests that anybody with SQLite can
 * compute again, who has the file as it was then, or another copy of the same practice.
 */
export function receiptOf(verified: Verified): string {
  const { store, startedAt, endedAt, sample } = verified;
  const { organization, url, columns, timezone } = store.facts;
  const { position } = wholeOf(statesOf(store, verified.resources));
  const { receipt: _, ...report } = reportOf(verified);
  const resources = verified.resources.map((each, index) => ({
    ...report.resources[index],
    ...{
      unavailable: each.unavailable,
      failure: (store.facts.deidentified ? each.failure?.code : each.failure?.message) ?? null,
    },
    tables: each.complete ? digestsOf(store, each.table) : [],
  }));
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

function statesOf(store: SqliteMirror, resources: readonly VerifiedResource[]) {
  return new Map(resources.map(({ table }) => [table, store.resource(table)]));
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
function digestsOf(store: SqliteMirror, { name }: MirrorTable): TableDigest[] {
  const { table, columns } = store.tables.rowsOf(store.tables.tables.find((each) => each.name === name) as MirrorTable);
  const children = table.children.map((child) => {
    const names = [child.parentKey, 'ordinal', ...child.columns.map((column) => column.name)];
    return digestOf(store.connection, child.name, json(names), `${quoted(child.parentKey)}, ordinal`);
  });
  return [
    digestOf(store.connection, name, 'id', 'id'),
    digestOf(store.connection, name, json(columns.map((column) => column.name)), 'id'),
    ...children,
  ];
}

function json(names: readonly string[]): string {
  return `json_array(${names.map(quoted).join(', ')})`;
}

function digestOf(connection: Connection, table: string, line: string, order: string): TableDigest {
  const query = `SELECT ${line} FROM ${quoted(table)} ORDER BY ${order}`;
  const hash = createHash('sha256');
  let rows = 0;
  for (const value of connection.prepare<[], string | bigint>(query).pluck().safeIntegers().iterate()) {
    hash.update(`${value}\n`);
    rows++;
  }
  return { table, rows, query, sha256: hash.digest('hex') };
}
