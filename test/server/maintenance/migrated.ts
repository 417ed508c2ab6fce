import { afterAll } from 'vitest';
import type { MigrationReport } from '../../../src/server/maintenance/migrate.ts';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { own } from './practices.ts';

interface Migrated {
  readonly database: TestDatabase;
  readonly report: MigrationReport;
}

/** A database that a practice was brought to, for the tests of a file that leave it as it is; made when one first asks for it. */
export function sharedMigration(bring: (url: string) => Promise<MigrationReport>) {
  let made: Promise<Migrated> | undefined;
  afterAll(async () => (await made)?.database.drop());
  const get = () => {
    made ??= testDatabase().then(async (database) => ({ database, report: await bring(own(database)) }));
    return made;
  };
  return {
    /** What `postgresTest` gives to a test: no test removes it. */
    database: async (): Promise<TestDatabase> => ({ ...(await get()).database, drop: async () => {} }),
    report: async (): Promise<MigrationReport> => (await get()).report,
  };
}
