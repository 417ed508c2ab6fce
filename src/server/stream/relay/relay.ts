import { pause } from '../../pause.ts';
import { Lease } from '../../scheduler.ts';
import { type OpenBroker, openBroker, type RelayTarget } from './broker.ts';
import { Cursors } from './cursors.ts';
import { type Relayed, Session } from './session.ts';

/** Milliseconds between two saves of the positions, which bounds what is sent again after a kill. */
const SAVE_MS = 250;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;
/** Of several servers one relays, as long as it renews its lease; when it dies, another one takes over. */
const LEASE_MS = 10_000;
const RENEW_MS = 3000;
const TAKEOVER_MS = 1000;
/** How long a connection may take to close when the server stops: a broker may never respond. */
const CLOSE_MS = 3000;

/** Callbacks of a relay. `failed`: a connection ended or could not be made, and will be retried. */
interface RelayEvents {
  readonly connected: (target: string) => void;
  readonly failed: (target: string, reason: string) => void;
}

/**
 * Publishes every message to a topic exchange, those of an organization in order and at least once (D42): it pulls like
 * any reader, keeps several hundred messages in flight, and saves for each organization the position up to which all are
 * confirmed. While the broker is unavailable, messages stay in the outbox; those that expire there are replaced by a
 * resync message, as are those of a history that a restore or a failover has ended (D53). Of several servers on one
 * database one relays at a time; when it dies, another resumes from the saved positions.
 */
export class Relay {
  /** Messages that the broker has confirmed since the start. */
  relayed = 0;
  /** Connections that ended or failed. */
  failures = 0;
  connected = false;
  private readonly lease: Lease;
  private readonly stopping = new AbortController();
  /** Aborts the connection. */
  private readonly cutting = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private readonly cursors: Cursors;
  private saving: Promise<void> = Promise.resolve();
  private savedAt = 0;

  private constructor(
    private readonly service: Relayed,
    private readonly target: RelayTarget,
    private readonly events: RelayEvents,
    private readonly open: OpenBroker,
  ) {
    this.cursors = new Cursors(service.store, nameOf(target));
    this.lease = new Lease(service.store, nameOf(target), LEASE_MS);
  }

  /** Starts relaying; a new broker gets every message in the outbox. */
  static async start(
    service: Relayed,
    target: RelayTarget,
    events: RelayEvents,
    open: OpenBroker = openBroker,
  ): Promise<Relay> {
    const relay = new Relay(service, target, events, open);
    await relay.cursors.load();
    relay.running = relay.run();
    return relay;
  }

  /** Messages not yet published or confirmed. */
  get lag(): number {
    return this.cursors.lag(this.service.stream.heads.values());
  }

  /** Waits briefly for messages in flight to be confirmed, then ends; the next start resumes after them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const timer = setTimeout(() => this.cutting.abort(), this.connected ? CLOSE_MS : 0);
    await this.running;
    clearTimeout(timer);
  }

  private async run(): Promise<void> {
    let delay = FIRST_DELAY_MS;
    while (!this.stopping.signal.aborted) {
      if (!(await this.acquireLease())) {
        await pause(TAKEOVER_MS, this.stopping.signal);
        continue;
      }
      const before = this.relayed;
      await this.session().catch((cause: unknown) => {
        if (this.stopping.signal.aborted) return;
        this.failures++;
        this.events.failed(this.target.name, reasonOf(cause));
      });
      this.connected = false;
      if (this.relayed > before) delay = FIRST_DELAY_MS;
      await pause(delay, this.stopping.signal);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
    }
    await this.saving;
    await this.cursors.save();
    await this.lease.release().catch(() => undefined);
  }

  /** Whether this server holds the lease; the positions that another server may have saved are read again. */
  private async acquireLease(): Promise<boolean> {
    if (!this.lease.isShared) return true;
    try {
      const isOurs = await this.lease.take();
      await this.saving;
      await this.cursors.load();
      return isOurs;
    } catch {
      // The store is unavailable: who holds the lease shows when it is back.
      return false;
    }
  }

  /** Renews the lease until the signal is aborted; aborts `lost` when another server has it. */
  private async renewLease(lost: AbortController, signal: AbortSignal): Promise<void> {
    if (!this.lease.isShared) return;
    for (let failed = 0; !signal.aborted; ) {
      await pause(RENEW_MS, signal);
      if (signal.aborted) return;
      const isOurs = await this.lease.take().catch(() => undefined);
      failed = isOurs === undefined ? failed + 1 : 0;
      // It ends before the lease does: at the next time it may be that of another server.
      if (isOurs === false || (failed + 1) * RENEW_MS > LEASE_MS) return lost.abort();
    }
  }

  /** One connection, until it breaks or the relay stops. */
  private async session(): Promise<void> {
    const broker = await this.open(this.target, this.cutting.signal);
    const lost = new AbortController();
    const over = new AbortController();
    try {
      this.connected = true;
      this.events.connected(this.target.name);
      void this.renewLease(lost, over.signal);
      const ending = AbortSignal.any([this.stopping.signal, lost.signal]);
      const confirmedOf = (org: number) => this.cursors.of(org);
      await new Session(this.service, broker, confirmedOf, ending, (confirmed) => {
        this.relayed += confirmed.length;
        for (const { org, position } of confirmed) this.cursors.reach(org, position);
        this.saveSoon();
      }).pump();
    } finally {
      over.abort();
      await broker.close();
    }
  }

  private saveSoon(): void {
    const now = performance.now();
    if (now - this.savedAt < SAVE_MS) return;
    this.savedAt = now;
    this.saving = this.saving.then(() => this.cursors.save());
  }
}

/** The reason of a failure without any part of the address, which the library repeats in some of its messages. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' || typeof code === 'number') return String(code);
  return cause.message.replace(/\w+:\/\/\S+/g, 'its address').slice(0, 200);
}

/** The name of a target in the store. */
function nameOf({ name, exchange }: RelayTarget): string {
  return `relay ${name} ${exchange}`;
}
