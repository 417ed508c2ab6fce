import type { Dialect } from '../store/migrations/dialects.ts';
import type { Reader } from '../store/store.ts';

/** One unchanging state of a store, whatever is written meanwhile: for work that has to agree with itself. */
export interface Snapshot {
  readonly dialect: Dialect;
  readonly read: Reader;
  close(): Promise<void>;
}
