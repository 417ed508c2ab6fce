import type { SentMessage, StoredMessage } from '../../../../src/server/stream/outbox.ts';
import type { Broker, RelayTarget } from '../../../../src/server/stream/relay/broker.ts';
import { Relay } from '../../../../src/server/stream/relay/relay.ts';

export const TARGET: RelayTarget = {
  url: 'amqp://broker.example.com',
  exchange: 'molar.stream',
  name: 'broker:5672 /',
};

export const EVENTS = { connected: () => {}, failed: () => {} };

/** A broker in memory: takes messages, confirms them in an order of its own, and breaks when it is told to. */
export class FakeBroker {
  readonly taken: StoredMessage[] = [];
  connections = 0;
  closed = 0;
  inFlight = 0;
  most = 0;
  /** Asked before each message; true breaks the connection, after the broker has taken it or before. */
  breaks: (count: number) => 'before' | 'after' | undefined = () => undefined;
  refuses: (message: SentMessage) => boolean = () => false;
  isDown = () => false;
  private sent = 0;

  readonly open = async (): Promise<Broker> => {
    this.connections++;
    if (this.isDown()) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const broken = new AbortController();
    this.inFlight = 0;
    return {
      broken: broken.signal,
      publish: (message, settled) => {
        const end = this.breaks(++this.sent);
        if (broken.signal.aborted || end === 'before') {
          broken.abort(new Error('cut'));
          return true;
        }
        this.taken.push(message as StoredMessage);
        this.most = Math.max(this.most, ++this.inFlight);
        if (end === 'after') broken.abort(new Error('cut'));
        setTimeout(() => {
          this.inFlight--;
          settled(!this.refuses(message));
        }, this.sent % 3);
        return this.sent % 7 !== 0;
      },
      drained: async () => {},
      close: async () => {
        this.closed++;
        broken.abort(new Error('closed'));
      },
    };
  };
}

const relays: Relay[] = [];

/** As `Relay.start`, for a test that may fail before it stops its relay. */
export async function startRelay(...given: Parameters<typeof Relay.start>): Promise<Relay> {
  const relay = await Relay.start(...given);
  relays.push(relay);
  return relay;
}

/** Stops what a test has started, before its store is closed: a stream that is closed lets no relay wait. */
export async function stopRelays(): Promise<void> {
  for (const relay of relays.splice(0)) await relay.stop();
}

/** Polls of a condition, at least 20 seconds, after which it will not come to hold. */
const POLLS = 4000;

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let polls = 0; !(await holds()); polls++) {
    if (polls === POLLS) throw new Error('It does not happen.');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
