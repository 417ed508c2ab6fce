/**
 * `STORE_TIMEOUT`: a statement took longer than a request may. `STORE_AWAY`: the database does not answer.
 * `STORE_FULL`: its disk is full.
 */
export type StoreFaultCode = 'STORE_TIMEOUT' | 'STORE_AWAY' | 'STORE_FULL';

/** The store cannot answer now; nothing is known to be wrong with it, and nothing of the write was kept unless it was being committed. */
export class StoreFault extends Error {
  readonly code: StoreFaultCode;

  constructor(code: StoreFaultCode, message: string) {
    super(message);
    this.name = 'StoreFault';
    this.code = code;
  }
}
