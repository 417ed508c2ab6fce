import type { Clock } from '../clock.ts';
import type { Metric } from '../metrics/route.ts';
import { countWaiting } from '../store/auditlog.ts';
import type { Store } from '../store/store.ts';
import {
  appendCheckpoint,
  type Checkpoint,
  type CheckpointReason,
  isSigned,
  lastCheckpoint,
  type Signing,
} from './checkpoints.ts';
import type { AuditKey, PublicKeys } from './keys.ts';
import { Shipper } from './shipper.ts';
import { dropRequest, readRequest } from './signing.ts';
import type { ShippingTarget } from './targets.ts';

const MINUTE_MS = 60_000;

/** How often it is looked at the clock, and at what commands have left in the store. */
const LOOK_MS = 500;

/**
 * What could not be done and is tried again: writing a checkpoint, shipping one, or giving entries of the log their places.
 */
export type KeeperFault = 'store' | 'shipping' | 'entries';

/** What a keeper of checkpoints works with. */
export interface KeeperOptions {
  readonly key: AuditKey;
  readonly clock: Clock;
  readonly target?: ShippingTarget | undefined;
  /** The key in the data folder, with which a restore has signed; `key` may be another. */
  readonly restoring?: PublicKeys | undefined;
  readonly onFault?: ((what: KeeperFault, error: unknown) => void) | undefined;
}

/** Writes the checkpoints of a server, at its start and stop and every minute with new entries, and ships them. */
export class CheckpointKeeper {
  private readonly shipper: Shipper | undefined;
  private last: Checkpoint | undefined;
  private timer: NodeJS.Timeout | undefined;
  private due = 0;
  private failing = false;
  private unsequenced = false;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    private readonly options: KeeperOptions,
  ) {
    const { target, onFault } = options;
    this.shipper = target && new Shipper(store, target, (error) => onFault?.('shipping', error));
  }

  /** Writes the first checkpoint, without which no server runs; those after it follow by themselves. */
  async start(): Promise<void> {
    this.last = await lastCheckpoint(this.store.read);
    await this.write(this.isRestored() ? 'restore' : 'start');
    this.due = this.options.clock() + MINUTE_MS;
    this.timer = setInterval(() => {
      this.looking ??= this.look().finally(() => {
        this.looking = undefined;
      });
    }, LOOK_MS).unref();
  }

  /** Whether a restore was signed with another key than this server's, which has to vouch for it from here on. */
  private isRestored(): boolean {
    const { key, restoring } = this.options;
    if (this.last?.reason !== 'restore' || this.last.key === key.id || restoring === undefined) return false;
    return isSigned(this.last, restoring) === true;
  }

  /** With what the next checkpoint is signed. */
  signing(reason: CheckpointReason): Signing {
    const { key, clock } = this.options;
    return { key, now: clock(), reason, seen: this.last };
  }

  /** Takes note of a checkpoint that was committed, and ships it. */
  committed(checkpoint: Checkpoint | undefined): void {
    this.last = checkpoint ?? this.last;
    void this.shipper?.ship();
  }

  /** What GET /metrics tells of it. */
  metrics(): Metric[] {
    return [
      {
        name: 'molar_audit_checkpoints_waiting',
        help: 'Checkpoints of the audit log that are still to be shipped.',
        kind: 'gauge',
        across: 'max',
        read: () => this.shipper?.waiting() ?? 0,
      },
      {
        name: 'molar_audit_entries_waiting',
        help: 'Entries of the audit log that are stored and still to be numbered.',
        kind: 'gauge',
        across: 'max',
        read: () => countWaiting(this.store.read),
      },
    ];
  }

  /** Writes the last checkpoint and ships what can be; the next start does the rest. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    if (this.timer !== undefined) await this.write('stop').catch((error) => this.options.onFault?.('store', error));
    await this.shipper?.close();
  }

  private async look(): Promise<void> {
    try {
      await this.sequence();
      const { last, wanted } = await readRequest(this.store.read);
      // A command has signed it: the server ships it.
      if (last > (this.last?.number ?? 0)) this.committed(await lastCheckpoint(this.store.read));
      if (wanted) await this.write('verify');
      const now = this.options.clock();
      if (now >= this.due) {
        await this.write('minute');
        this.due = now + MINUTE_MS;
      }
      this.failing = false;
    } catch (error) {
      // It is tried again at once, and said once.
      if (!this.failing) this.options.onFault?.('store', error);
      this.failing = true;
    }
  }

  /** Gives entries their places that a killed server has left behind. What fails costs none of them: they wait. */
  private async sequence(): Promise<void> {
    try {
      await this.store.sequenceEntries();
      this.unsequenced = false;
    } catch (error) {
      if (!this.unsequenced) this.options.onFault?.('entries', error);
      this.unsequenced = true;
    }
  }

  private async write(reason: CheckpointReason): Promise<void> {
    await this.sequence();
    this.committed(
      await this.store.write(async (tx) => {
        if (reason === 'verify') await dropRequest(tx);
        return appendCheckpoint(tx, this.signing(reason));
      }),
    );
  }
}
