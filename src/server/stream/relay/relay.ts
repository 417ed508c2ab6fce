import { setTimeout as sleep } from 'node:timers/promises';
import { Lease } from '../../scheduler.ts';
import { type OpenBroker, openBroker, type RelayTarget } from './broker.ts';
import { nameOf, noteFirstPosition, readPosition, writePosition } from './position.ts';
import { type Relayed, Session } from './session.ts';

/** Milliseconds between two notes of the position: what a kill sends again is no more than this. */
const NOTE_MS = 250;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** Of several servers one relays, as long as it renews its lease; how soon another one takes over when it dies. */
const LEASE_MS = 10_000;
const RENEW_MS = 3000;
const TAKEOVER_MS = 1000;
/** How long a connection may take to end when the server stops: a broker may never answer. */
const FAREWELL_MS = 3000;

/** What a relay tells of itself. `failed`: a connection ended or could not be made, and another is tried in a while. */
export interface RelayEvents {
  readonly connected: (target: string) => void;
  readonly failed: (target: string, reason: string) => void;
}

/**
 * Brings every message of the stream to a topic exchange, in order and at least once (D42): it pulls like any reader,
 * keeps several hundred in flight, and notes how far all are confirmed. While the broker is away messages stay in the
 * outbox and are brought later; those that are older than the retention by then are told by a resync message. Of
 * several servers on one database one relays at a time; when it dies, another goes on where it had noted to be.
 */
export class Relay {
  /** Messages that the broker has confirmed since the start. */
  relayed = 0;
  /** Connections that ended or could not be made. */
  failures = 0;
  connected = false;
  private readonly service: Relayed;
  private readonly target: RelayTarget;
  private readonly events: RelayEvents;
  private readonly open: OpenBroker;
  private readonly lease: Lease;
  private readonly stopping = new AbortController();
  /** Cuts the connection off. */
  private readonly cutting = new AbortController();
  private readonly running: Promise<void>;
  private position: number;
  private noted: number;
  private noting: Promise<void> = Promise.resolve();
  private notedAt = 0;

  private constructor(service: Relayed, target: RelayTarget, events: RelayEvents, open: OpenBroker, position: number) {
    this.service = service;
    this.target = target;
    this.events = events;
    this.open = open;
    this.position = position;
    this.noted = position;
    this.lease = new Lease(service.store, nameOf(target), LEASE_MS);
    this.running = this.run();
  }

  /** Starts to relay; a broker that has not been relayed to gets everything that is kept. */
  static async start(
    service: Relayed,
    target: RelayTarget,
    events: RelayEvents,
    open: OpenBroker = openBroker,
  ): Promise<Relay> {
    const position = await readPosition(service.store.read, target);
    if (service.store.shared !== undefined) await noteFirstPosition(service.store, target, position);
    return new Relay(service, target, events, open, position);
  }

  /** Messages that wait to be brought or confirmed, by their numbers. */
  get lag(): number {
    return Math.max(0, this.service.stream.newest - this.position);
  }

  /** Ends after the messages in flight are confirmed, for a moment at most; the next start goes on behind them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    const timer = setTimeout(() => this.cutting.abort(), this.connected ? FAREWELL_MS : 0);
    await this.running;
    clearTimeout(timer);
  }

  private async run(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !this.stopping.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      if (!(await this.takesTurn())) {
        await wait(TAKEOVER_MS, this.stopping.signal);
        continue;
      }
      const before = this.position;
      await this.session().catch((cause: unknown) => {
        if (this.stopping.signal.aborted) return;
        this.failures++;
        this.events.failed(this.target.name, reasonOf(cause));
      });
      this.connected = false;
      if (this.position > before) pause = FIRST_PAUSE_MS;
      await wait(pause, this.stopping.signal);
    }
    await this.noting;
    await this.note();
    await this.lease.release().catch(() => undefined);
  }

  /** Whether this server is the one that relays; where others can be, how far they have come is read again. */
  private async takesTurn(): Promise<boolean> {
    if (!this.lease.isShared) return true;
    try {
      const isOurs = await this.lease.take();
      this.position = await readPosition(this.service.store.read, this.target);
      this.noted = this.position;
      return isOurs;
    } catch {
      // A store that is away: whose turn it is shows when it is back.
      return false;
    }
  }

  /** Renews the lease until the signal is aborted; aborts `lost` when another server has it. */
  private async keepTurn(lost: AbortController, signal: AbortSignal): Promise<void> {
    if (!this.lease.isShared) return;
    for (let failed = 0; !signal.aborted; ) {
      await wait(RENEW_MS, signal);
      if (signal.aborted) return;
      const isOurs = await this.lease.take().catch(() => undefined);
      failed = isOurs === undefined ? failed + 1 : 0;
      if (isOurs === false || failed * RENEW_MS >= LEASE_MS) return lost.abort();
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
      void this.keepTurn(lost, over.signal);
      const ending = AbortSignal.any([this.stopping.signal, lost.signal]);
      await new Session(this.service, broker, this.position, ending, (confirmed) => {
        this.relayed += confirmed.messages;
        this.position = confirmed.upTo;
        this.noteSoon();
      }).pump();
    } finally {
      over.abort();
      await broker.close();
    }
  }

  private noteSoon(): void {
    const now = performance.now();
    if (now - this.notedAt < NOTE_MS) return;
    this.notedAt = now;
    this.noting = this.noting.then(() => this.note());
  }

  /** A store that is busy for long is told with the next note. */
  private async note(): Promise<void> {
    if (this.position === this.noted) return;
    const { position } = this;
    await writePosition(this.service.store, this.target, position).then(
      () => {
        this.noted = position;
      },
      () => undefined,
    );
  }
}

/** What went wrong, in words that hold no part of the address: the library repeats it in some of its messages. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as { code?: unknown };
  if (typeof code === 'string' || typeof code === 'number') return String(code);
  return cause.message.replace(/\w+:\/\/\S+/g, 'its address').slice(0, 200);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
