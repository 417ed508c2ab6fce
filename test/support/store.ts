/** Whether services of tests have their records in PostgreSQL. */
export const ON_POSTGRES = process.env.MOLAR_TEST_STORE === 'postgres';

/**
 * How many cases of one kind a test tries. Most of what they lead through is the same code on both stores, and more of
 * them are tried on SQLite; on PostgreSQL those are enough that ask the database in each different way.
 */
export function cases(usual: number, onPostgres: number): number {
  return ON_POSTGRES ? onPostgres : usual;
}
