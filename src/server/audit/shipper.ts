import sql from 'sql-template-tag';
import { Lease } from '../scheduler.ts';
import type { Reader, Store } from '../store/store.ts';
import { checkpointLine, checkpointPages, SHIPPED } from './checkpoints.ts';
import { ANSWER_MS, type ShippingTarget } from './targets.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** One of several servers ships to a target; another one takes over this long after it has died. */
const LEASE_MS = 60_000;

/** Time that a stop waits for a receiver. */
const STOP_MS = 3000;

/** Checkpoints that are sent together: a receiver may answer each at the last moment, and all within the lease. */
const BATCH = Math.floor(LEASE_MS / ANSWER_MS) - 1;

/**
 * Ships checkpoints in order, each at least once. How far it has come is in the store, so that nothing is lost with the
 * process; what cannot be shipped is tried again, after longer and longer pauses.
 */
export class Shipper {
  private readonly lease: Lease;
  private pause = FIRST_PAUSE_MS;
  private timer: NodeJS.Timeout | undefined;
  private shipping: Promise<void> | undefined;
  private readonly stopping = new AbortController();
  private closed = false;

  /** `onFault` is called when a run fails, before it is tried again. */
  constructor(
    private readonly store: Store,
    private readonly target: ShippingTarget,
    private readonly onFault: (error: unknown) => void,
  ) {
    this.lease = new Lease(store, `shipping ${target.name}`, LEASE_MS);
  }

  /** Ships what waits, and goes on trying by itself. Resolves after the first attempt, whatever comes of it. */
  ship(): Promise<void> {
    clearTimeout(this.timer);
    this.shipping ??= this.shipAll()
      .then(() => {
        this.pause = FIRST_PAUSE_MS;
      })
      .catch((error: unknown) => {
        this.onFault(error);
        if (this.closed) return;
        this.timer = setTimeout(() => void this.ship(), this.pause).unref();
        this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
      })
      .finally(() => {
        this.shipping = undefined;
      });
    return this.shipping;
  }

  /** How many checkpoints wait. */
  async waiting(): Promise<number> {
    const position = await this.position();
    const row = await this.store.read.get<{ found: number }>(
      sql`SELECT COUNT(*) AS found FROM audit_checkpoints WHERE number > ${position}`,
    );
    return row?.found ?? 0;
  }

  /** Tries once more, for a moment; what is left waits for the next start. */
  async close(): Promise<void> {
    this.closed = true;
    const limit = setTimeout(() => this.stopping.abort(), STOP_MS);
    await this.shipping;
    if (!this.stopping.signal.aborted) await this.ship();
    clearTimeout(limit);
    await this.lease.release().catch(() => undefined);
  }

  private async shipAll(): Promise<void> {
    if (!(await this.lease.take())) return;
    const after = await this.position();
    for await (const page of checkpointPages(this.store.read, { after })) {
      for (let at = 0; at < page.length; at += BATCH) {
        const batch = page.slice(at, at + BATCH);
        const { signal } = this.stopping;
        signal.throwIfAborted();
        if (!(await this.lease.renew())) return;
        const lines = batch.map((checkpoint) => ({ at: checkpoint.at, text: checkpointLine(checkpoint) }));
        await this.target.send(lines, signal);
        await this.moveTo(batch.at(-1)?.number ?? 0);
      }
    }
  }

  private async position(): Promise<number> {
    const name = SHIPPED + this.target.name;
    const row = await this.store.read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${name}`);
    return Number(row?.value ?? 0);
  }

  private moveTo(number: number): Promise<number> {
    return this.store.write((tx) =>
      tx.run(sql`INSERT INTO settings (name, value) VALUES (${SHIPPED + this.target.name}, ${String(number)})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`),
    );
  }
}

/** Up to which checkpoint the files have everything that a server ships to files; undefined where none does. */
export async function shippedToFiles(read: Reader, prefix: string): Promise<number | undefined> {
  const rows = await read.all<{ value: string }>(
    sql`SELECT value FROM settings WHERE name LIKE ${`${SHIPPED}${prefix}%`}`,
  );
  return rows.length === 0 ? undefined : Math.max(...rows.map(({ value }) => Number(value)));
}
