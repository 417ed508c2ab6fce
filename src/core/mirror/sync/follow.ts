import { EXIT } from '../../../catalog/failures.ts';
import { RESYNC } from '../../../catalog/stream/domains.ts';
import type { Clock } from '../../clock.ts';
import { Failure } from '../../failure.ts';
import { ConnectionLost } from '../../stream/source.ts';
import { type Backoff, retryDelay } from '../../transport/retry.ts';
import type { RowChanges } from '../store.ts';
import type { MirrorTable } from '../tables.ts';
import { isBehind, type Stream } from './listening.ts';
import { isOfMirror } from './refusal.ts';
import type { SyncOutcome } from './syncrun.ts';

/** What happens while a mirror is followed, as `--json` prints it (D52). */
export interface FollowEvent extends RowChanges {
  readonly event: 'synced' | 'changed' | 'disconnected' | 'connected' | 'resync';
  /** UTC. */
  readonly at: string;
  readonly asOf: string;
  readonly position: string | null;
}

/** How a mirror is followed. */
export interface Following {
  readonly stream: Stream;
  /** `isIncrement`: only what the stream has told since. */
  readonly sync: (isIncrement: boolean) => Promise<SyncOutcome>;
  /** Milliseconds between syncs where there is no stream. */
  readonly interval: number;
  readonly onEvent: (event: FollowEvent) => Promise<void>;
  /** Called once when a resource stays as it was for a reason that another attempt will hardly mend. */
  readonly onStale: (table: MirrorTable, reason: string) => Promise<void>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: Backoff;
  readonly signal: AbortSignal;
}

/** Milliseconds after which what the stream does not tell is asked for again. */
const UNTOLD = 60_000;

/** Milliseconds in which more messages of the same change usually arrive. */
const GATHERING = 50;

const NOTHING: RowChanges = { added: 0, changed: 0, deleted: 0 };

/** Keeps a mirror up to date from a sync on, over as many connections as it takes. Ends only by throwing. */
export function followMirror(following: Following, synced: SyncOutcome): Promise<never> {
  return new Follower(following, synced).run();
}

class Follower {
  private isConnected = true;
  private failed = 0;
  /** Whether the last sync failed, so that another one comes before anything else. */
  private isLate = false;
  /** Resources of which was told that they stay as they are. */
  private readonly stale = new Set<MirrorTable>();
  /** When everything was last synced. */
  private syncedAt: number;

  constructor(
    private readonly following: Following,
    private outcome: SyncOutcome,
  ) {
    this.syncedAt = following.clock.now();
    for (const { table, unavailable } of outcome.resources) if (unavailable !== null) this.stale.add(table);
  }

  async run(): Promise<never> {
    const { clock, signal, random, policy } = this.following;
    await this.tell('synced', changesOf(this.outcome));
    for (;;) {
      try {
        if (!this.isLate) await this.wait();
        await this.sync(false);
        await this.connected();
      } catch (cause) {
        signal.throwIfAborted();
        if (!isPassing(cause)) throw cause;
        if (this.isConnected) await this.tell('disconnected', NOTHING);
        this.isConnected = false;
        const retryAfter = cause instanceof ConnectionLost ? cause.retryAfter : undefined;
        await clock.sleep(retryDelay(++this.failed, policy, random, retryAfter), signal);
      }
    }
  }

  /** Waits until everything has to be synced. */
  private wait(): Promise<void> {
    const { clock, signal, interval } = this.following;
    const { position } = this.outcome;
    return position === null ? clock.sleep(interval, signal) : this.listen(position);
  }

  /** Applies what the stream tells; returns when everything has to be synced. */
  private async listen(start: string): Promise<void> {
    const { stream, clock, signal } = this.following;
    for await (const item of stream.connect({ after: start })) {
      if (item.kind === 'opened') await this.connected();
      if (item.kind === 'message') {
        item.handled();
        if (item.message.operation === RESYNC) return this.tell('resync', NOTHING);
        if (isBehind(this.outcome.position, item.position)) {
          await clock.sleep(GATHERING, signal);
          await this.sync(true);
        }
      }
      if (this.outcome.position === null || clock.now() - this.syncedAt >= UNTOLD) return;
    }
    throw new ConnectionLost(
      new Failure('The server closed the connection.', { code: 'network.unreachable', exitCode: EXIT.network }),
    );
  }

  private async sync(isIncrement: boolean): Promise<void> {
    this.isLate = true;
    const { position, asOf } = this.outcome;
    const outcome = await this.following.sync(isIncrement);
    const passing = outcome.resources.find(({ failure }) => isPassing(failure))?.failure;
    // What failed is still as it was then.
    this.outcome = passing ? { ...outcome, position, asOf } : outcome;
    const changes = changesOf(outcome);
    if (changes.added + changes.changed + changes.deleted > 0) await this.tell('changed', changes);
    if (passing) throw passing;
    await this.tellStale();
    if (!isIncrement) this.syncedAt = this.following.clock.now();
    this.isLate = false;
  }

  private async tellStale(): Promise<void> {
    for (const { table, failure, unavailable } of this.outcome.resources) {
      const reason = failure?.message ?? unavailable;
      if (reason === null) this.stale.delete(table);
      else if (!this.stale.has(table)) {
        this.stale.add(table);
        await this.following.onStale(table, reason);
      }
    }
  }

  private async connected(): Promise<void> {
    this.failed = 0;
    if (this.isConnected) return;
    this.isConnected = true;
    await this.tell('connected', NOTHING);
  }

  private tell(event: FollowEvent['event'], changes: RowChanges): Promise<void> {
    const { position, asOf } = this.outcome;
    const at = new Date(this.following.clock.now()).toISOString();
    return this.following.onEvent({ event, at, asOf, position, ...changes });
  }
}

/** Whether another attempt may succeed: not after a refusal, when the disk failed, or when records are missing. */
function isPassing(cause: unknown): boolean {
  if (cause instanceof ConnectionLost) return true;
  return (
    cause instanceof Failure &&
    !isOfMirror(cause) &&
    cause.code !== 'pages.incomplete' &&
    (cause.exitCode === EXIT.network || cause.exitCode === EXIT.throttled)
  );
}

function changesOf({ resources }: SyncOutcome): RowChanges {
  const sum = (name: keyof RowChanges) => resources.reduce((total, resource) => total + resource[name], 0);
  return { added: sum('added'), changed: sum('changed'), deleted: sum('deleted') };
}
