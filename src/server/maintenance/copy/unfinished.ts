import type { Dialect } from '../../store/migrations/dialects.ts';
import { readSchema } from '../../store/schema/introspection.ts';
import { type Reader, StoreUnusable } from '../../store/store.ts';
import { STATE_TABLE } from './state.ts';

/** Refuses a store into which a copy was begun and not completed: it has some of the records. Throws `StoreUnusable`. */
export async function refuseUnfinished(read: Reader, dialect: Dialect): Promise<void> {
  const { tables } = await readSchema(read, dialect);
  if (!tables.some(({ name }) => name === STATE_TABLE)) return;
  throw new StoreUnusable(
    'The database has the beginning of a copy, which was not completed.',
    'Run the same molar server migrate or molar server restore again: it goes on where it was.',
  );
}
