import type { Warning } from '../catalog/failures.ts';
import type { Actor, Disclosure } from './audit/entries.ts';
import type { ReadTrail } from './audit/readtrail.ts';
import type { Budgets } from './budgets/budgets.ts';
import type { Clock } from './clock.ts';
import type { Files } from './files/files.ts';
import type { LinkKeys } from './files/linkkeys.ts';
import type { Organization } from './organizations.ts';
import type { Store, Transaction } from './store/store.ts';
import type { Deliveries } from './stream/deliveries.ts';
import type { Stream } from './stream/stream.ts';
import type { Grant } from './tokens/tokens.ts';
import type { TokenUses } from './tokens/uses.ts';

/** What every handler works with. */
export interface Service {
  readonly store: Store;
  readonly files: Files;
  /** Reads on their way into the audit log. */
  readonly reads: ReadTrail;
  /** Every change, for listeners (D40–D42). */
  readonly stream: Stream;
  /** Deliveries of async endpoints to the stream. */
  readonly deliveries: Deliveries;
  /** What each organization, token and address may hold at once. */
  readonly budgets: Budgets;
  readonly clock: Clock;
  /** Keys of download links. */
  readonly linkKeys: LinkKeys;
  /** When tokens were last used. */
  readonly tokenUses: TokenUses;
  /** Days that files of deleted documents are kept; 0: they are removed at once. */
  readonly fileRetentionDays: number;
  /** Largest decoded document, in bytes (D38). */
  readonly maxDocumentBytes: number;
  /** Code points that a free text may have (contract §8). */
  readonly maxText: number;
  /** The announced change: location filters are required (D12). */
  readonly requireLocation: boolean;
  /** Transactions per page of the aging report (D35). */
  readonly agingPageLimit: number;
}

/** One request to one operation, after authentication and before validation. */
export interface OperationRequest {
  readonly service: Service;
  readonly organization: Organization;
  /** What the caller may do and see. */
  readonly grant: Grant;
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
  /** Stores the response for the Idempotency-Key, in the transaction of the write (D46). Every handler of a POST calls it. */
  readonly storeResponse: (tx: Transaction, response: OperationResponse) => Promise<void>;
}

/** What a read found: how many records, which ones, and the keys of the filter that selected them. */
export interface Found extends Disclosure {
  count?: number;
  ids?: readonly number[];
  patients?: readonly number[];
  filterKeys?: readonly string[];
}

/** The envelope's `data` as JSON, so that stored records are joined rather than parsed: a text, or its parts in UTF-8. */
export interface OperationResponse {
  readonly data: string | readonly Buffer[];
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Headers of this response alone. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Carries out one operation. */
export type Handler = (request: OperationRequest) => Promise<OperationResponse>;
