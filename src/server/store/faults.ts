/**
 * `STORE_TIMEOUT`: a statement took longer than a request may. `STORE_AWAY`: the database does not respond.
 * `STORE_FULL`: its disk is full.
 */
export type StoreFaultCode = 'STORE_TIMEOUT' | 'STORE_AWAY' | 'STORE_FULL';

/** The store cannot respond now; nothing is known to be wrong with it, and nothing was written unless the write was being committed. */
export class StoreFault extends Error {
  constructor(
    readonly code: StoreFaultCode,
    message: string,
  ) {
    super(message);
    this.name = 'StoreFault';
  }
}

/** A statement that writes the audit log failed, and with it the transaction: what has no entry has not happened (D54). */
export class AuditFault extends Error {
  /** That of the cause. */
  readonly code: unknown;

  constructor(override readonly cause: Error & { readonly code?: unknown }) {
    super(cause.message, { cause });
    this.name = 'AuditFault';
    this.code = cause.code;
  }
}

/** What a driver or a store threw, whatever was being written. */
export function underlying(error: unknown): unknown {
  return error instanceof AuditFault ? error.cause : error;
}
