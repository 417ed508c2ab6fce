import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyLog } from '../../../../src/server/audit/verify.ts';
import { MAX_SEQUENCED } from '../../../../src/server/store/auditlog.ts';
import { openSqliteStore } from '../../../../src/server/store/sqlite/store.ts';
import { rawRows, tamper } from '../../../support/rawsql.ts';

// More than two rounds give their places to: who reads the log may have asked for one before.
const WAITING = 2 * MAX_SEQUENCED + 345;

it('all entries that a copy has brought without their places have them before the log is read', async () => {
  const path = await mkdtemp(join(tmpdir(), 'molar-waiting-'));
  const store = await openSqliteStore(path, { serving: true });
  try {
    const place = { path, database: undefined };
    // As PostgreSQL keeps them: the first has the highest number.
    await tamper(
      place,
      `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${WAITING})
        INSERT INTO audit_entries (id, org, at, who, operation, ids, patients, hash)
        SELECT -at, 1, '2026-03-02T12:00:00.000Z', 'x', 'patients.get', '[' || at || ']', '[' || at || ']', '' FROM n`,
    );
    await store.sequenceEntries();
    const entries = await rawRows<{ id: number; ids: string }>(place, 'SELECT id, ids FROM audit_entries ORDER BY id');
    expect(entries.map(({ id, ids }) => `${id} ${ids}`)).toEqual(
      Array.from({ length: WAITING }, (_, at) => `${at + 1} [${at + 1}]`),
    );
    expect(await verifyLog(store.read)).toMatchObject({ entries: WAITING, first: 1, last: WAITING, problems: [] });
  } finally {
    await store.close();
    await rm(path, { recursive: true });
  }
});
