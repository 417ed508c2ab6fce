import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenBroker, openBroker, type RelayTarget } from './broker.ts';
import { readPosition, writePosition } from './position.ts';
import { type Relayed, Session } from './session.ts';

/** Milliseconds between two notes of the position: what a kill sends again is no more than this. */
const NOTE_MS = 250;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
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
 * outbox and are brought later; those that are older than the retention by then are told by a resync message.
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
    this.running = this.run();
  }

  /** Starts to relay; a broker that has not been relayed to gets everything that is kept. */
  static async start(
    service: Relayed,
    target: RelayTarget,
    events: RelayEvents,
    open: OpenBroker = openBroker,
  ): Promise<Relay> {
    return new Relay(service, target, events, open, await readPosition(service.store.read, target));
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
  }

  /** One connection, until it breaks or the relay stops. */
  private async session(): Promise<void> {
    const broker = await this.open(this.target, this.cutting.signal);
    try {
      this.connected = true;
      this.events.connected(this.target.name);
      await new Session(this.service, broker, this.position, this.stopping.signal, (confirmed) => {
        this.relayed += confirmed.messages;
        this.position = confirmed.upTo;
        this.noteSoon();
      }).pump();
    } finally {
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
