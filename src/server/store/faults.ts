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
