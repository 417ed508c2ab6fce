import sql, { raw } from 'sql-template-tag';
import type { Dialect } from '../../store/migrations/dialects.ts';
import type { Table } from '../../store/schema/introspection.ts';
import type { Reader, Transaction } from '../../store/store.ts';

/** The last number that the database itself gave to a row of a table: it is never given again. */
interface Counter {
  readonly table: string;
  readonly last: number;
}

/** The counters of a store, those that have given nothing left out. */
export async function readCounters(read: Reader, dialect: Dialect, tables: readonly Table[]): Promise<Counter[]> {
  if (dialect === 'sqlite') {
    return read.all<Counter>(sql`SELECT name AS "table", seq AS last FROM sqlite_sequence WHERE seq > 0 ORDER BY name`);
  }
  const counters: Counter[] = [];
  for (const { table, sequence } of await sequencesOf(read, tables)) {
    const row = await read.get<{ last: number }>(
      sql`SELECT last_value AS last FROM ${raw(sequence)} WHERE is_called AND last_value > 0`,
    );
    if (row !== undefined) counters.push({ table, last: row.last });
  }
  return counters;
}

/** Continues the counters of another store. Every row must be there already. */
export async function writeCounters(
  tx: Transaction,
  dialect: Dialect,
  tables: readonly Table[],
  counters: readonly Counter[],
): Promise<void> {
  const sequences = dialect === 'sqlite' ? [] : await sequencesOf(tx, tables);
  for (const { table, last } of counters) {
    const sequence = sequences.find((candidate) => candidate.table === table)?.sequence;
    if (sequence !== undefined) {
      await tx.all(sql`SELECT setval(${sequence}, ${last})`);
    } else if (dialect === 'sqlite') {
      const known = await tx.run(sql`UPDATE sqlite_sequence SET seq = max(seq, ${last}) WHERE name = ${table}`);
      if (known === 0) await tx.run(sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`);
    }
  }
}

async function sequencesOf(read: Reader, tables: readonly Table[]) {
  const found: { table: string; sequence: string }[] = [];
  for (const { name, key } of tables) {
    const [column] = key;
    if (key.length !== 1 || column === undefined) continue;
    const row = await read.get<{ sequence: string | null }>(
      sql`SELECT pg_get_serial_sequence(${name}, ${column}) AS sequence`,
    );
    if (row !== undefined && row.sequence !== null) found.push({ table: name, sequence: row.sequence });
  }
  return found;
}
