import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onPostgres } from '../../support/postgres.ts';
import { runName } from '../../support/rundatabases.ts';
import { TEST_POSTGRES } from '../../support/services.ts';
import { type Evidence, postgresEvidence, sqliteEvidence } from './evidence.ts';

export type StoreName = 'sqlite' | 'postgres';

/** Where a tortured practice is, and what can be done to it past the server. */
export interface TorturedStore {
  /** For `molar serve` and `molar server …`, with the practice's folder as the current one. */
  readonly flags: readonly string[];
  readonly place: { readonly data: string; readonly database?: string; readonly files?: string };
  /** Folder of files. */
  readonly files: string;
  evidence(): Promise<Evidence>;
  /** Ends the database's own processes that work for the server; answers how many. */
  endBackends(): Promise<number>;
  drop(): Promise<void>;
}

export async function openTortured(name: StoreName, folder: string): Promise<TorturedStore> {
  return name === 'sqlite' ? sqlite(folder) : postgres(folder);
}

function sqlite(folder: string): TorturedStore {
  const data = join(folder, 'd');
  return {
    flags: ['--data', 'd'],
    place: { data },
    files: join(data, 'files'),
    evidence: () => sqliteEvidence(data),
    endBackends: async () => 0,
    drop: async () => {},
  };
}

/** A database of its own, with commits that wait for the disk as everywhere else. */
async function postgres(folder: string): Promise<TorturedStore> {
  const name = runName();
  await onPostgres((client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(TEST_POSTGRES);
  url.pathname = `/${name}`;
  const [data, files] = [join(folder, 'd'), join(folder, 'files')];
  const count = (sql: string) => onPostgres(async (client) => (await client.query(sql, [name])).rowCount ?? 0);
  return {
    flags: ['--database', url.href, '--files', 'files'],
    place: { data, database: url.href, files },
    files,
    evidence: () => postgresEvidence(url.href),
    endBackends: () => count('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'),
    async drop() {
      // Not all of them are gone at once.
      while ((await count('SELECT 1 FROM pg_stat_activity WHERE datname = $1')) > 0) await sleep(50);
      await onPostgres((client) => client.query(`DROP DATABASE ${name}`));
    },
  };
}

/** Waits until nothing is under way any more that a killed server had sent to its database. */
export async function settled({ place }: TorturedStore, before: Date): Promise<void> {
  const { database } = place;
  if (database === undefined) return;
  const left = () =>
    onPostgres(async (client) => {
      const { rowCount } = await client.query(
        'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_start < $1',
        [before],
      );
      return rowCount ?? 0;
    }, database);
  while ((await left()) > 0) await sleep(10);
}
