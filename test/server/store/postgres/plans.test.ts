import sql, { raw } from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { fillLedger, settleLedger } from '../../../../src/server/reports/aging/ledger.ts';
import { conditionsOf } from '../../../../src/server/store/conditions.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Statement } from '../../../../src/server/store/store.ts';
import { postgresTest, type TestDatabase } from '../../../support/postgres.ts';

const term = (name: string, operator: '==' | '~=', value: string) => {
  const key = Object.values(patients.filters).find((candidate) => candidate.key === name);
  if (key === undefined) throw new Error(`There is no filter key ${name}.`);
  return { key, operator, values: [value], all: false };
};

const CASES: readonly [string, Statement, RegExp][] = [
  [
    'messages of one organization',
    sql`SELECT payload FROM stream_messages WHERE seq > ${15_000} AND org = ${2} ORDER BY seq LIMIT 50`,
    /stream_messages_pkey/,
  ],
  [
    'patients by the beginning of a name',
    sql`SELECT r.id FROM patients r WHERE r.org = ${1}${conditionsOf({ org: 1 }, patients, [term('lastName', '~=', 'n123')])}`,
    /patients_by_last_name_fold/,
  ],
  [
    'patients along their ids',
    sql`SELECT r.id FROM patients r WHERE r.org = ${1}${conditionsOf({ org: 1 }, patients, [term('lastName', '~=', 'n')], 'ids')}
      ORDER BY r.id LIMIT 50`,
    /patients_pkey/,
  ],
  [
    'patients by a phone number',
    sql`SELECT r.id FROM patients r WHERE r.org = ${1}${conditionsOf({ org: 1 }, patients, [term('phones.number', '==', '555123')])}
      ORDER BY r.id LIMIT 50`,
    /patients_phones_number_pkey/,
  ],
];

describe('plans of PostgreSQL', () => {
  postgresTest('find by index what a large table has little of, and sort nothing large', async (database) => {
    const store = await openPostgresStore(database.url);
    await store.write(async (tx) => {
      await tx.run(sql`INSERT INTO stream_messages (org, routing_key, sent_at, payload, seq)
        SELECT 1 + n % 1000, 'key', 'now', '{}', n FROM generate_series(1, 20000) n`);
      await tx.run(sql`INSERT INTO patients (org, id, last_name, last_name_fold, json)
        SELECT 1, n, 'N' || n, 'n' || n, '{}' FROM generate_series(1, 20000) n`);
      await tx.run(sql`INSERT INTO patients_phones_number (org, value, id)
        SELECT 1, '555' || n, n FROM generate_series(1, 20000) n`);
      await tx.run(sql`ANALYZE stream_messages, patients, patients_phones_number`);
    });
    for (const [name, statement, index] of CASES) {
      const rows = await store.read.all<Record<string, string>>(sql`EXPLAIN ${statement as never}`);
      const plan = rows.flatMap((row) => Object.values(row)).join('\n');
      expect(plan, name).toMatch(index);
      expect(plan, name).not.toMatch(/Seq Scan/);
    }
    await store.close();
  });

  const known = 'ANALYZE patients, transactions, distributions, ledger, ledger_changes';

  postgresTest('a change of the ledger reads no table from one end to the other', (database) =>
    changed(database, known),
  );

  postgresTest('nor where nothing is known of the tables, and what was deleted is still there', (database) =>
    changed(database, 'SELECT 1'),
  );

  async function changed(database: TestDatabase, statistics: string): Promise<void> {
    const store = await openPostgresStore(database.url);
    await store.write(async (tx) => {
      await tx.run(sql`INSERT INTO patients (org, id, primary_guarantor_id, json)
        SELECT 1, n, n, '{}' FROM generate_series(1, 1000) n`);
      await tx.run(sql`INSERT INTO transactions (org, id, patient_id, amount_cents, is_active, transaction_date, json)
        SELECT 1, n, 1 + n % 1000, 100, 1, '2026-01-05', '{}' FROM generate_series(1, 20000) n`);
      await tx.run(sql`INSERT INTO distributions (org, credit_id, charge_id, cents, by_insurance)
        SELECT 1, n + 1, n, 1, 0 FROM generate_series(1, 20000) n`);
      await fillLedger(tx, 1);
      await tx.run(sql`UPDATE ledger_versions SET counted = version`);
      await tx.run(sql`INSERT INTO ledger_changes (org, id) SELECT 1, n FROM generate_series(1, 20000) n`);
      await tx.run(sql`DELETE FROM ledger_changes`);
      await tx.run(raw(statistics) as never);
    });
    const read = await store.write(async (tx) => {
      // What the transaction before has counted may be among it still.
      const counted = async () => {
        const rows = await tx.all<{ name: string; seq_tup_read: number; idx_scan: number }>(
          sql`SELECT relname AS name, seq_tup_read, idx_scan FROM pg_stat_xact_user_tables`,
        );
        return new Map(rows.map((row) => [row.name, row]));
      };
      await tx.run(sql`INSERT INTO ledger_changes (org, id) SELECT 1, n FROM generate_series(500, 520) n`);
      // Else PostgreSQL would compile what it cannot do but by reading a whole table, such as emptying one.
      expect(await tx.get(sql`SELECT current_setting('jit') AS jit`)).toEqual({ jit: 'off' });
      const before = await counted();
      await settleLedger(tx);
      const after = await counted();
      const more = (name: string, of: 'seq_tup_read' | 'idx_scan') =>
        Number(after.get(name)?.[of] ?? 0) - Number(before.get(name)?.[of] ?? 0);
      return [
        ...['patients', 'transactions', 'distributions', 'ledger'].filter((name) => more(name, 'seq_tup_read') > 0),
        ...['ledger_changes'].filter((name) => more(name, 'idx_scan') > 1000),
      ];
    });
    expect(read).toEqual([]);
    await store.close();
  }
});
