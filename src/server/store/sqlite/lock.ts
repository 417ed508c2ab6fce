import { join } from 'node:path';
import { StoreUnusable } from '../store.ts';
import { type Connection, isBusy, openConnection } from './open.ts';

/**
 * Keeps a data folder for one server. The lock is the operating system's own lock on a small database file, so it
 * is gone the moment the process is, however it died. Returns how to let go.
 */
export function lockFolder(folder: string): () => void {
  let connection: Connection | undefined;
  try {
    connection = openConnection(join(folder, 'server.lock'));
    connection.pragma('journal_mode = DELETE');
    connection.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    connection?.close();
    if (!isBusy(error)) throw error;
    throw new StoreUnusable(
      `Another server is running on ${folder}.`,
      'Stop it, or give this one a folder of its own with --data.',
      error,
    );
  }
  const held = connection;
  return () => release(held);
}

function release(connection: Connection): void {
  connection.exec('ROLLBACK');
  connection.close();
}
