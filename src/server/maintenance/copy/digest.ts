import { createHash } from 'node:crypto';
import type { Table } from '../../store/schema/introspection.ts';
import type { Reader } from '../../store/store.ts';
import { turn, type Work } from '../work.ts';
import { keyOf, readRows, type Values } from './rows.ts';

/** What two stores are compared by: how many rows a table has, and one hash over all of them. */
export interface TableDigest {
  readonly rows: number;
  readonly hash: string;
}

const MODULUS = 1n << 256n;

/**
 * Reads a whole table. The hash is the sum of the SHA-256 of each row, so it does not depend on the order in which a
 * store sorts its keys.
 */
export async function digestOf(read: Reader, table: Table, work: Work): Promise<TableDigest> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pagesOf(read, table)) {
    for (const row of page) sum = (sum + hashOfRow(row)) % MODULUS;
    rows += page.length;
    await turn(work, `Comparing ${table.name}`, page.length);
  }
  return { rows, hash: sum.toString(16).padStart(64, '0') };
}

function hashOfRow(row: Values): bigint {
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(row)).digest('hex')}`);
}

/** All rows of a table, some at a time. */
export async function* pagesOf(read: Reader, table: Table, after?: Values): AsyncGenerator<readonly Values[]> {
  for (let from = after; ; ) {
    const page = await readRows(read, table, from);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    from = keyOf(table, last);
  }
}
