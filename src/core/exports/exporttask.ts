import type { Warning } from '../../catalog/failures.ts';
import type { LockOwner } from '../lockfile.ts';
import type { Sink } from '../output/sink.ts';
import type { Formatter } from '../output/writepages.ts';
import type { Proof } from '../pages/complete.ts';
import type { Row, RowPage } from '../pages/page.ts';
import type { WalkedPage, WalkPosition } from '../pages/walkoptions.ts';
import type { TransferStatistics } from '../transport/pacer.ts';
import type { ExportKind } from './changesfile.ts';
import type { Effort, ExportIdentity, Progress } from './journal.ts';
import type { Receipt } from './receipt.ts';

/** Where a run begins to read, and callbacks on what the server responds. */
export interface ExportStart {
  readonly from: WalkPosition | undefined;
  /** Called with the time of the server's clock, UTC milliseconds. */
  readonly onServerTime: (time: number) => void;
  /** Called with the warnings of every response, including the empty last page. */
  readonly onWarnings: (warnings: readonly Warning[]) => void;
  /** Called with how the pages were proved to be complete. */
  readonly onProof: (proof: Proof) => void;
}

/** One export to a file. */
export interface ExportTask {
  readonly identity: ExportIdentity;
  /** The filter to send, as receipts have it: that of the identity, with the bound of a bookmark. */
  readonly filter: string | undefined;
  /** The columns, as text to compare. */
  readonly columns: string;
  readonly path: string;
  /** What the file holds; no changes, no file. */
  readonly kind: ExportKind;
  readonly resume: boolean;
  readonly receipt: boolean;
  /** When a mirror was true that the file is made of, UTC; absent where it is of the service. */
  readonly asOf?: string | null;
  /** Whether an interrupted file can be resumed. */
  readonly resumable: boolean;
  /** Called once the output is known to be writable, with the number of records that are in it already. */
  readonly formatter: (written: number) => Promise<Formatter<string | Uint8Array>>;
  readonly pack: (inner: Sink) => Sink;
  readonly shape?: (row: Row) => Row;
  /** Connects and opens the pages; called once no local problem is left. */
  readonly open: (start: ExportStart) => Promise<AsyncIterable<Pick<WalkedPage, 'rows' | 'position'>>>;
  /** Sorts the records; not for a run that can be resumed. */
  readonly reorder?: (pages: AsyncIterable<RowPage>) => AsyncIterable<RowPage>;
  /** False for a record that an earlier run has exported as it is. */
  readonly isNew?: (row: Row) => boolean;
  readonly onRows?: (total: number) => void;
  /** Called with the number of records of the run that is resumed. */
  readonly onResume?: (rows: number) => void;
  /** Called with the reason when a run starts over although it was to be resumed. */
  readonly onRestart?: (reason: string) => void;
  /** Called when a run ends without the file. */
  readonly onInterrupted?: (export_: InterruptedExport) => void;
}

/** How far an export got that ended without the file. */
export interface InterruptedExport extends Pick<Progress, 'rows' | 'pages'>, Effort {
  readonly resumable: boolean;
}

/** The process and the client of an export. */
export interface ExportWorld {
  readonly owner: LockOwner;
  readonly signal: AbortSignal;
  /** What the requests of this export took so far; undefined before the first. */
  readonly statistics: () => TransferStatistics | undefined;
}

/** A finished export. `readFrom`: the earliest time at which its first page can have been read, UTC milliseconds. */
export interface ExportDone {
  readonly receipt: Receipt;
  readonly readFrom: number;
}
