import { writeCommand } from '../audit/commands.ts';
import { readSchema } from '../store/schema/introspection.ts';
import type { Store } from '../store/store.ts';
import type { DataLocation, OpenDataLocation } from './datalocation.ts';
import { ownSchema } from './tables.ts';
import type { Work } from './work.ts';

/** Notes a copy of everything in the audit log of a store; nothing may be copied before this resolves. */
export function noteCopy(
  store: Store,
  operation: `server.${'backup' | 'restore' | 'migrate'}`,
  { now }: Work,
): Promise<void> {
  return writeCommand({ store, clock: now }, { operation, all: true });
}

/**
 * Notes a backup in the log that is backed up. Data of another version of molar, which a backup leaves as it is, may have
 * no place for the entry: such a backup has none.
 */
export async function noteBackup(place: DataLocation, opened: OpenDataLocation, work: Work): Promise<void> {
  const own = await ownSchema();
  const found = await readSchema(opened.live, place.database === undefined ? 'sqlite' : 'postgres');
  if (found.version !== own.version || found.fingerprint !== own.fingerprint) return;
  const store = await opened.store();
  await noteCopy(store, 'server.backup', work).finally(() => store.close());
}
