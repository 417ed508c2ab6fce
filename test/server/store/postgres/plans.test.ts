import sql from 'sql-template-tag';
import { describe, expect } from 'vitest';
import { patients } from '../../../../src/catalog/resources/patients.ts';
import { conditionsOf } from '../../../../src/server/store/conditions.ts';
import { openPostgresStore } from '../../../../src/server/store/postgres/store.ts';
import type { Statement } from '../../../../src/server/store/store.ts';
import { postgresTest } from '../../../support/postgres.ts';

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
});
