import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { auditPages, exportEntries } from '../../../../src/server/audit/export.ts';
import { patientPages } from '../../../../src/server/audit/patienttrail.ts';
import { verifyLog } from '../../../../src/server/audit/verify.ts';
import { onBothStores } from './olderpractice.ts';

/** Entries as molar wrote them before they had lists: org, operation, ids, count. */
const OLDER: readonly (readonly [org: number | null, operation: string, ids: string | null, count: number | null])[] = [
  [1, 'patients.get', '41', 1],
  [1, 'appointments.get', '41', 1],
  [2, 'patients.update', '41', 1],
  [1, 'patients.list', null, 100],
  [null, 'tokens.create', '0123456789ab', 1],
  [1, 'patients.get', '42', 1],
];

const AT = '2026-01-01T00:00:00.000Z';

/** SQL that writes them, each with the hash that it had over the one before. */
function written(): string {
  let hash = '';
  const rows = OLDER.map(([org, operation, ids, count], index) => {
    const values = [org, AT, 'token 1', '127.0.0.1', 'r', operation, ids, count, null];
    hash = createHash('sha256')
      .update(JSON.stringify([hash, index + 1, ...values]))
      .digest('hex');
    return [index + 1, ...values, hash].map((value) => {
      if (value === null) return 'NULL';
      return typeof value === 'number' ? String(value) : `'${value}'`;
    });
  });
  return `DELETE FROM audit_entries;
    INSERT INTO audit_entries (id, org, at, who, address, request_id, operation, ids, record_count, filter_keys, hash)
    VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')};
    UPDATE log_heads SET last_id = ${OLDER.length}, hash = '${hash}' WHERE name = 'audit'`;
}

onBothStores('entries of an earlier molar are read, verified and found by their patient', async (home) => {
  const dump = (name: string) => readFile(join(import.meta.dirname, `version5.${name}.sql`), 'utf8');
  await home.script({ sqlite: await dump('sqlite'), postgres: await dump('postgres') });
  await home.script({ sqlite: written(), postgres: written() });
  const store = await home.open();
  const { read } = store;
  expect((await verifyLog(read)).problems).toEqual([]);
  const told: unknown[] = [];
  for await (const { operation, ids, patients } of exportEntries(read, auditPages(read))) {
    told.push([operation, ids, patients]);
  }
  expect(told).toEqual([
    ['patients.get', [41], []],
    ['appointments.get', [41], []],
    ['patients.update', [41], []],
    ['patients.list', [], []],
    ['tokens.create', ['0123456789ab'], []],
    ['patients.get', [42], []],
  ]);
  const found = async (range: Parameters<typeof patientPages>[2]) => {
    const entries: number[] = [];
    for await (const page of patientPages(read, 41, range)) entries.push(...page.map(({ id }) => id));
    return entries;
  };
  expect(await found({})).toEqual([1, 3]);
  expect(await found({ org: 1 })).toEqual([1]);
  await store.close();
});
