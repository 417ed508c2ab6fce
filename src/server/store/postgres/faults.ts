import { isConnectionFault, sqlState } from '../../../postgres/unusable.ts';
import { AuditFault, StoreFault, underlying } from '../faults.ts';

/** What the driver throws: a response of the database with its SQLSTATE, or a fault of the connection. */
interface DriverError extends Error {
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly severity?: string;
}

/** States of a transaction that conflicted with another one, and may succeed when it is retried. */
const RETRYABLE = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '23505', // unique_violation: somebody was faster; the retry sees what is there now
]);

/** States of a database that is unavailable, shutting down, or read-only. */
const UNAVAILABLE = new Set([
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25006', // read_only_sql_transaction: a standby
  '25P03', // idle_in_transaction_session_timeout
]);

const TIMED_OUT = new Set([
  '57014', // query_canceled
  '55P03', // lock_not_available
]);

/** disk_full */
const FULL = '53100';

/** Whether the same work may succeed when it is retried. */
export function isTransient(error: unknown): boolean {
  return RETRYABLE.has(sqlState(cause(error)) ?? '');
}

/** Whether the connection is lost. */
export function isLost(error: unknown): boolean {
  const fault = underlying(error);
  return fault instanceof StoreFault && fault.code === 'STORE_AWAY';
}

function cause(error: unknown): unknown {
  const fault = underlying(error);
  return fault instanceof DatabaseFault ? fault.state : fault;
}

/** An unexpected error of the database. Its text is left out where it may repeat values of records. */
class DatabaseFault extends Error {
  /** SQLSTATE and severity alone. */
  readonly state: Pick<DriverError, 'code' | 'severity'>;

  constructor({ code, severity, constraint, table, message }: DriverError) {
    const at = [table, constraint].filter((part) => part !== undefined).join(', ');
    // Classes 22 (data) and 23 (constraints) repeat values; the others speak of statements, rights and resources.
    const words = /^2[23]/.test(code ?? '') ? 'a value was refused' : message;
    super(`PostgreSQL ${code}: ${words}${at && ` (${at})`}`);
    this.name = 'DatabaseFault';
    this.state = { ...(code !== undefined && { code }), ...(severity !== undefined && { severity }) };
  }
}

/** Any fault of the driver as one that the rest of the server knows, without values of records in it. */
export function storeFault(error: unknown): unknown {
  if ([StoreFault, DatabaseFault, AuditFault].some((known) => error instanceof known) || !(error instanceof Error))
    return error;
  const state = sqlState(error);
  if (state === undefined) {
    return isConnectionFault(error)
      ? new StoreFault('STORE_AWAY', `The database is unavailable: ${wordsOf(error)}.`)
      : error;
  }
  if (state === FULL) return new StoreFault('STORE_FULL', 'The disk of the database is full.');
  if (TIMED_OUT.has(state)) return new StoreFault('STORE_TIMEOUT', 'The database took too long.');
  if (UNAVAILABLE.has(state) || state.startsWith('08'))
    return new StoreFault('STORE_AWAY', `The database is unavailable: ${state}.`);
  return new DatabaseFault(error);
}

function wordsOf(error: Error): string {
  return (error as DriverError).code ?? error.message;
}
