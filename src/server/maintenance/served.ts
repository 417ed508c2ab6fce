import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Connection, isBusy, openConnection } from '../store/sqlite/open.ts';

/** Whether a server runs on a data folder: it holds the lock then. Only looks, so that a server may start meanwhile. */
export function isServed(folder: string): boolean {
  const file = join(folder, 'server.lock');
  if (!existsSync(file)) return false;
  let connection: Connection | undefined;
  try {
    connection = openConnection(file, { readonly: true });
    connection.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    connection?.close();
  }
}
