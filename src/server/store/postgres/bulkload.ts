import type { Connection } from './statements.ts';

/** Named where the database knows them; others that speak its protocol may not. */
const SETTINGS = "('plan_cache_mode', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin')";

/**
 * For a transaction that fills tables: the same few statements run millions of times, so planning each anew would cost
 * more than running it; and a plan that is made while tables are small has to be one for large ones.
 */
export async function planForFilling(connection: Connection): Promise<void> {
  await connection.command(
    `SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, true)
      FROM pg_settings WHERE name IN ${SETTINGS}`,
  );
}

/** Takes that back, and tells the planner what the tables hold now, so that what reads them whole is planned for it. */
export async function planForReading(connection: Connection, tables: readonly string[]): Promise<void> {
  connection.replan();
  await connection.command(
    `SELECT set_config(name, reset_val, true) FROM pg_settings WHERE name IN ${SETTINGS}; SAVEPOINT analyzing`,
  );
  try {
    await connection.command(`ANALYZE ${tables.join(', ')}`);
  } catch {
    // No more than advice to the planner: a database that takes no such list is as right without it.
    await connection.command('ROLLBACK TO SAVEPOINT analyzing');
  }
  await connection.command('RELEASE SAVEPOINT analyzing');
}
