import { CHANGE_OPERATIONS, type ChangeOperation, domainTypeOf, RESYNC } from '../../../catalog/stream/domains.ts';
import { Failure, localFailure } from '../../failure.ts';
import { idOf } from '../../pages/page.ts';
import { HttpSource } from '../../stream/httpsource.ts';
import { ConnectionLost, ConnectionSilent, type StreamItem } from '../../stream/source.ts';
import { WITHOUT_ROUTE } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { Deidentifier } from '../deidentify/deidentifier.ts';
import { memberText } from '../jsonmembers.ts';
import type { MirrorStore, ReceivedChange } from '../store.ts';
import { MIRROR_TABLES, type MirrorTable } from '../tables.ts';

/** A position of the stream as far as a client may read it (D53). */
interface Place {
  readonly epoch: string;
  readonly number: number;
}

/** Epoch and number of a position. */
export function placeOf(position: string): Place {
  const at = position.lastIndexOf('-');
  return { epoch: position.slice(0, Math.max(0, at)), number: Number(position.slice(at + 1)) };
}

/** Whether a message is newer than what is here. */
export function isBehind(position: string | null, message: string): boolean {
  if (position === null) return true;
  const [here, there] = [placeOf(position), placeOf(message)];
  return here.epoch !== there.epoch || here.number < there.number;
}

/** Milliseconds in which the service has to begin to answer: one that has no stream may say nothing at all. */
const ANSWER = 10_000;

/** Attempts to connect before a service counts as one without a stream, and connections in a row that bring nothing. */
export const ATTEMPTS = 3;

/** Where to begin, and with what. */
interface StreamStart {
  /** Messages after this position; new ones where absent. */
  readonly after?: string;
  /** Routing key patterns; every message where absent. */
  readonly keys?: readonly string[];
  /** Milliseconds without a byte after which the connection counts as lost. */
  readonly silence?: number;
}

/** The stream of a service, where it has one. */
export class Stream {
  constructor(
    private readonly client: ApiClient,
    private readonly now: () => number,
    private readonly signal: AbortSignal,
    private readonly deidentifier?: Deidentifier,
  ) {}

  /**
   * The position behind the newest message; undefined where the service has no stream that can be resumed. `isExpected`:
   * it had one before, and throws what does not say that there is none any more.
   */
  async head(isExpected = false): Promise<string | undefined> {
    let lost: ConnectionLost | undefined;
    for (let failed = 0; failed < ATTEMPTS; failed++) {
      // Where there never was one, what answers in its place is not waited for.
      if (lost !== undefined) await this.waitToRetry(failed, lost.failure, isExpected ? lost.retryAfter : undefined);
      try {
        // What comes first tells where it begins.
        for await (const { position } of this.connect({ silence: ANSWER })) return position;
      } catch (cause) {
        this.signal.throwIfAborted();
        if (cause instanceof ConnectionLost) {
          lost = cause;
          continue;
        }
        if (!(cause instanceof Failure) || cause.status === 401 || (isExpected && !saysThereIsNone(cause))) throw cause;
        return undefined;
      }
    }
    if (isExpected && lost !== undefined && !(lost instanceof ConnectionSilent)) throw lost.failure;
    return undefined;
  }

  /** Messages, without an end. */
  connect({ after, keys = [], silence }: StreamStart = {}): AsyncGenerator<StreamItem, void> {
    const { now } = this;
    const source = new HttpSource(this.client, { keys, after, now, ...(silence !== undefined && { silence }) });
    return source.connect(this.signal);
  }

  /**
   * Keeps the changes between two positions of each table that is named, after the number of a message. False when the
   * server no longer has them, or the positions are of different histories: then everything has to be compared.
   * Connections may end as often as they like while each brings something.
   */
  async replay(
    from: string,
    to: string,
    store: MirrorStore,
    tables: ReadonlyMap<MirrorTable, number>,
  ): Promise<boolean> {
    const end = placeOf(to);
    if (placeOf(from).epoch !== end.epoch || placeOf(from).number > end.number) return false;
    let after = from;
    for (let fruitless = 0; placeOf(after).number < end.number; ) {
      const before = after;
      let lost = new ConnectionLost(
        localFailure('network.unreachable', 'The server closed the stream before the position that it named.'),
      );
      const batch = new ChangeBatch(store, tables, this.deidentifier);
      try {
        for await (const item of this.connect({ after })) {
          if (item.kind === 'opened') continue;
          if (item.kind === 'message') {
            if (item.message.operation === RESYNC) return false;
            // Sent at least once (D42): one that comes late again must not bring back what was so then.
            if (!isBehind(after, item.position)) continue;
            await batch.add(item);
            item.handled();
          }
          // Another server behind the same address may be behind.
          if (item.position === undefined || !isBehind(after, item.position)) continue;
          after = item.position;
          if (placeOf(after).epoch !== end.epoch) return false;
          if (placeOf(after).number >= end.number) break;
        }
      } catch (cause) {
        this.signal.throwIfAborted();
        if (!(cause instanceof ConnectionLost)) throw cause;
        lost = cause;
      }
      await batch.flush();
      fruitless = after === before ? fruitless + 1 : 0;
      if (fruitless === ATTEMPTS) throw lost.failure;
      if (fruitless > 0) await this.waitToRetry(fruitless, lost.failure, lost.retryAfter);
    }
    return true;
  }

  /** Waits after so many connections in a row that failed; at most `ATTEMPTS` may. */
  waitToRetry(failed: number, failure: Failure, retryAfter: number | undefined): Promise<void> {
    return this.client.waitToRetry({ failed, attempts: ATTEMPTS, failure, retryAfter }, this.signal);
  }
}

function saysThereIsNone({ status }: Failure): boolean {
  return status !== null && (status === 403 || WITHOUT_ROUTE.includes(status));
}

const TABLES = new Map(MIRROR_TABLES.map((table) => [domainTypeOf(table.resource), table]));

/** Messages that are kept together. */
const BATCH = 500;

/** Collects messages of the stream, and keeps the changes among them. */
class ChangeBatch {
  private changes: ReceivedChange[] = [];

  constructor(
    private readonly store: MirrorStore,
    private readonly tables: ReadonlyMap<MirrorTable, number>,
    private readonly deidentifier: Deidentifier | undefined,
  ) {}

  async add(item: Extract<StreamItem, { kind: 'message' }>): Promise<void> {
    const change = changeOf(item);
    if (change === undefined) return;
    // A table that is read after a message has it: applied over it, the message would bring back what has changed since.
    const read = this.tables.get(change.table);
    if (read === undefined || item.message.id <= read) return;
    this.changes.push(this.deidentifier?.change(change) ?? change);
    if (this.changes.length >= BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    const { changes } = this;
    this.changes = [];
    if (changes.length > 0) await this.store.receive(changes);
  }
}

/** The change that a message tells of; undefined for other messages. */
function changeOf({ message, text }: Extract<StreamItem, { kind: 'message' }>): ReceivedChange | undefined {
  const table = TABLES.get(message.domainType);
  const id = idOf(message.payload);
  const operation = CHANGE_OPERATIONS.find((name) => name === message.operation) as ChangeOperation | undefined;
  if (table === undefined || id === undefined || operation === undefined) return undefined;
  const payload = memberText(text, 'payload') ?? JSON.stringify(message.payload);
  return { table, id: String(id), operation, at: message.sendTime, payload };
}
