import { underlying } from '../store/faults.ts';
import { StoreUnusable } from '../store/store.ts';

/** An error of SQLite has its code, one of PostgreSQL the state that was answered. */
interface DatabaseError {
  readonly code?: unknown;
  readonly state?: { readonly code?: unknown };
  readonly message?: unknown;
}

/** Codes for pages that cannot be read; class XX of PostgreSQL is that, too. */
const UNREADABLE = /^(?:SQLITE_(?:CORRUPT|NOTADB|IOERR)|XX)/;

/** Codes for tables and columns that are gone, or are of another type than molar made them. */
const REMADE = /^(?:42P01|42703|42804|42883)|^SQLITE_ERROR: no such (?:table|column)/;

/** What a database says of what it cannot read, or does not have as molar made it; undefined for every other error. */
export function damageOf(error: unknown): string | undefined {
  const { code: own, state, message } = (underlying(error) ?? {}) as DatabaseError;
  const code = own ?? state?.code;
  // A number that is beyond what is exact: molar writes none.
  if (error instanceof RangeError) return error.message.replace(/\.$/, '');
  if (typeof code !== 'string') return undefined;
  if (code.startsWith('XX')) return code;
  return UNREADABLE.test(code) || REMADE.test(`${code}: ${message}`) ? String(message) : undefined;
}

/** Runs work that reads everything: what it cannot read is reported as damage, not as a defect of molar. */
export async function reportingDamage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    throw new StoreUnusable(
      `The database is damaged: ${damage}.`,
      'Run molar server check, and restore the last backup with molar server restore.',
      error,
    );
  }
}
