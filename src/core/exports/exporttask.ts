import type { Warning } from '../../catalog/failures.ts';
import type { LockOwner } from '../lockfile.ts';
import type { Formatter } from '../output/format.ts';
import type { Sink } from '../output/sink.ts';
import type { Proof } from '../pages/complete.ts';
import type { Row, RowPage } from '../pages/page.ts';
import type { WalkedPage, WalkPosition } from '../pages/walkoptions.ts';
import type { TransferStatistics } from '../transport/pacer.ts';
import type { ExportKind } from './changesfile.ts';
import type { ExportIdentity } from './identity.ts';
import type { Effort, Progress } from './journal.ts';
import type { Receipt } from './receipt.ts';

/** Where a run begins to read, and what it wants to know of the answers. */
export interface ExportStart {
  readonly from: WalkPosition | undefined;
  /** To be told what the server's clock says, UTC milliseconds. */
  readonly onServerTime: (time: number) => void;
  /** To be told the warnings of every answer, those of the empty last page included. */
  readonly onWarnings: (warnings: readonly Warning[]) => void;
  /** To be called with how the pages were proved to be complete. */
  readonly onProof: (proof: Proof) => void;
}

/** One export to a file. */
export interface ExportTask {
  readonly identity: ExportIdentity;
  /** The filter to send, as receipts have it: that of the identity, with the bound of a bookmark. */
  readonly filter: string | undefined;
  /** The columns, in a form that only has to be compared. */
  readonly columns: string;
  readonly path: string;
  /** What the file holds; of no changes there is no file. */
  readonly kind: ExportKind;
  readonly resume: boolean;
  readonly receipt: boolean;
  /** Whether the form can be gone on with after an early end. */
  readonly resumable: boolean;
  /** Made once the output is known to be writable; told the records that stand in it already. */
  readonly formatter: (written: number) => Promise<Formatter<string | Uint8Array>>;
  readonly wrap: (inner: Sink) => Sink;
  readonly shape?: (row: Row) => Row;
  /** Connects and opens the pages; called once nothing local stands in the way. */
  readonly open: (start: ExportStart) => Promise<AsyncIterable<WalkedPage>>;
  /** Puts the records in another order than they come in; not for a run that can be resumed. */
  readonly inOrder?: (pages: AsyncIterable<RowPage>) => AsyncIterable<RowPage>;
  /** False for a record that an earlier run has exported as it is. */
  readonly isNew?: (row: Row) => boolean;
  readonly onRows?: (total: number) => void;
  /** Told that it goes on with so many records. */
  readonly onResume?: (rows: number) => void;
  /** Told why it starts over although it was to be resumed. */
  readonly onRestart?: (reason: string) => void;
  /** Told how far a run came that ended without the file; `kept`: it can be resumed. */
  readonly onLeft?: (left: Left) => void;
}

/** What an export that ended early has come to. */
export interface Left extends Pick<Progress, 'rows' | 'pages'>, Effort {
  readonly kept: boolean;
}

export interface ExportWorld {
  readonly owner: LockOwner;
  readonly signal: AbortSignal;
  /** What the requests of this export needed so far; undefined before the first. */
  readonly statistics: () => TransferStatistics | undefined;
}

/** A finished export. `readFrom`: the earliest time at which its first page can have been read, UTC milliseconds. */
export interface ExportDone {
  readonly receipt: Receipt;
  readonly readFrom: number;
}
