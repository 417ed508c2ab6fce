import { StoreUnusable } from '../store/store.ts';

/** An error of SQLite has its code, one of PostgreSQL the state that was answered. */
interface DatabaseError {
  readonly code?: unknown;
  readonly state?: { readonly code?: unknown };
  readonly message?: unknown;
}

/** What a database says of pages that it cannot read; undefined for every other error. Class XX of PostgreSQL is that, too. */
export function damageOf(error: unknown): string | undefined {
  const { code: own, state, message } = (error ?? {}) as DatabaseError;
  const code = own ?? state?.code;
  if (typeof code !== 'string' || !/^(?:SQLITE_(?:CORRUPT|NOTADB|IOERR)|XX)/.test(code)) return undefined;
  return code.startsWith('XX') ? code : String(message);
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
