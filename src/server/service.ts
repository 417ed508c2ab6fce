import type { Warning } from '../catalog/failures.ts';
import type { Actor } from './audit/entries.ts';
import type { ReadTrail } from './audit/readtrail.ts';
import type { Clock } from './clock.ts';
import type { Files } from './files/files.ts';
import type { Organization } from './organizations.ts';
import type { Store, Transaction } from './store/store.ts';
import type { Deliveries } from './stream/deliveries.ts';
import type { Stream } from './stream/stream.ts';

/** What every handler works with. */
export interface Service {
  readonly store: Store;
  readonly files: Files;
  /** What was read, on its way into the audit log. */
  readonly reads: ReadTrail;
  /** Everything that changed, for those who listen (D40–D42). */
  readonly stream: Stream;
  /** What async endpoints bring to the stream. */
  readonly deliveries: Deliveries;
  readonly clock: Clock;
  /** Key of signed URLs; made once for a data folder. */
  readonly signingKey: Buffer;
  /** Largest decoded document, in bytes (D38). */
  readonly maxDocumentBytes: number;
  /** The announced change: location filters are required (D12). */
  readonly requireLocation: boolean;
  /** Transactions per page of the aging report (D35). */
  readonly agingPageLimit: number;
}

/** One request to one operation, past authentication and before validation. */
export interface OperationRequest {
  readonly service: Service;
  readonly organization: Organization;
  readonly actor: Actor;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The path's record id as sent. */
  readonly pathId: string | undefined;
  readonly body: unknown;
  /** Filled by handlers; goes into the envelope. */
  readonly warnings: Warning[];
  /** Filled by handlers; goes into the audit log. */
  readonly found: Found;
  /** Origin under which the caller reaches this server: `http://127.0.0.1:4010`. */
  readonly baseUrl: string;
  /**
   * Keeps the answer of a POST for its Idempotency-Key, in the transaction that stores what it answers for (D46).
   * Every handler of a POST calls it.
   */
  readonly remember: (tx: Transaction, answer: Answer) => Promise<void>;
}

/** What a read gave: how many records, and the keys of the filter that selected them. */
export interface Found {
  count?: number;
  filterKeys?: readonly string[];
}

/** The envelope's `data` as JSON, so that stored records are joined rather than parsed: a text, or its parts in UTF-8. */
export interface Answer {
  readonly data: string | readonly Buffer[];
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Headers of this answer alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (request: OperationRequest) => Promise<Answer>;
