import sql, { raw } from 'sql-template-tag';
import { Lease } from '../../scheduler.ts';
import { STAGING_TABLES } from '../migrations/imports.ts';
import { type ImportClaim, type Store, StoreUnusable } from '../store.ts';

/** After this a process that has not renewed its claim counts as dead. */
const CLAIM_MS = 30_000;

/** Rows that are deleted at once. */
const PAGE = 5000;

/** The right to import into a database: a lease, renewed while it is held; areas are rows of tables beside the others. */
export async function claimDatabase(store: Pick<Store, 'shared' | 'read' | 'write'>): Promise<ImportClaim | undefined> {
  const lease = new Lease(store, 'import', CLAIM_MS);
  if (!(await lease.take())) return undefined;
  // A renewal that fails is tried again before the lease ends; `confirm` tells where that was too late.
  const timer = setInterval(() => lease.renew().catch(() => false), CLAIM_MS / 4).unref();
  return {
    open: async () => ({
      read: store.read,
      write: (statements) =>
        store.write(async (tx) => {
          await Promise.all(statements.map((statement) => tx.run(statement)));
        }),
      async sync() {},
      async close() {},
    }),
    async names() {
      const rows = await store.read.all<{ import: string }>(sql`SELECT DISTINCT import FROM import_lines
        UNION SELECT DISTINCT import FROM import_links UNION SELECT DISTINCT import FROM import_deferred`);
      return rows.map((row) => row.import);
    },
    async remove(name) {
      await removePages(store, 'import_lines', 'org, type, id', name);
      for (const table of Object.keys(STAGING_TABLES)) {
        await store.write((tx) => tx.run(sql`DELETE FROM ${raw(table)} WHERE import = ${name}`));
      }
    },
    async confirm(tx) {
      if (await lease.renew(tx)) return;
      throw new StoreUnusable('Another import has begun meanwhile; nothing was imported.', 'Run it again.');
    },
    async release() {
      clearInterval(timer);
      await lease.release();
    },
  };
}

async function removePages(store: Pick<Store, 'write'>, table: string, key: string, name: string): Promise<void> {
  for (let removed = PAGE; removed > 0; ) {
    removed = await store.write((tx) =>
      tx.run(sql`DELETE FROM ${raw(table)} WHERE import = ${name} AND (${raw(key)}) IN
        (SELECT ${raw(key)} FROM ${raw(table)} WHERE import = ${name} LIMIT ${PAGE})`),
    );
  }
}
