import type { Files } from '../../files/files.ts';
import type { Dialect } from '../../store/migrations/dialects.ts';
import type { Reader } from '../../store/store.ts';

/** What the checks work with. */
export interface CheckContext {
  readonly dialect: Dialect;
  /** One unchanging state of the store. */
  readonly read: Reader;
  /** What is committed now. */
  readonly live: Reader;
  readonly files: Files;
  /** A server runs on it: some of what looks unfinished is only under way. */
  readonly served: boolean;
  /** Files may stand there before their records are committed: one that no record names is left alone for a day. */
  readonly keepsYoung: boolean;
  /** Reads every file and compares its SHA-256. */
  readonly deep: boolean;
  /** UTC milliseconds. */
  readonly now: number;
  /** The organization on the wire of a key in the store; null where there is none. */
  readonly organization: (org: number) => string | null;
  /** Told how many more of what have been looked at. */
  readonly progress: (what: string, count: number) => void;
  /** Between pages: tells the progress, lets signals in, and throws when the work is to end. */
  readonly turn: (what: string, count: number) => Promise<void>;
}
