import type { Transaction } from '../store.ts';
import type { Place } from './bulkloadport.ts';
import { FillingTransaction } from './bulkloadtransaction.ts';

/**
 * Runs a work that fills tables in a transaction on a connection of its own; nothing is left of it when it fails.
 * `begun` is called when it has the write lock. Resolves, when it is on disk, with what the work gave and the tables
 * that it has written to.
 */
export async function fillTables<T>(
  file: string,
  place: Place,
  work: (tx: Transaction) => Promise<T>,
  begun: () => void,
): Promise<{ readonly value: T; readonly written: ReadonlySet<string> }> {
  // A file by itself, which finds that of the thread beside it.
  const { openPort } = await import('./bulkloadport.ts');
  const port = openPort(file, place);
  try {
    const tx = new FillingTransaction(port);
    await tx.begin();
    begun();
    const value = await work(tx);
    await tx.commit();
    return { value, written: tx.written };
  } finally {
    await port.close();
  }
}
