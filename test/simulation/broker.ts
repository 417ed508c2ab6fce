import { setMaxListeners } from 'node:events';
import { pause } from '../../src/server/pause.ts';
import type { Broker, OpenBroker } from '../../src/server/stream/relay/broker.ts';
import { Draws } from '../faithful/random.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** What a broker has taken, as its consumers get it. */
interface Taken {
  readonly routingKey: string;
  /** Its number among the messages of its organization. */
  readonly number: number;
}

/** How many messages a connection holds before it asks to wait. */
const ROOM = 50;

/**
 * A broker on virtual time, whose every fault follows from its seed: connections that are refused or cut off, messages
 * that are lost with them or arrive though their confirm does not, confirms that overtake each other, and now and then a
 * message that it refuses.
 */
export class SeededBroker {
  readonly taken: Taken[] = [];
  /** Whether it is without faults from now on. */
  isFair = false;
  /** Messages that it has refused: what was sent behind them has overtaken them. */
  refused = 0;
  private connections = 0;
  private readonly open = new Set<AbortController>();

  constructor(private readonly seed: string) {}

  readonly openBroker: OpenBroker = async (_target, cut) => {
    const draws = new Draws(`${this.seed} broker ${++this.connections}`);
    await pause(draws.whole(1, 500), cut);
    cut.throwIfAborted();
    if (!this.isFair && draws.chance(0.2)) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    return this.connect(draws, cut);
  };

  /** Cuts off every connection, as its end does. */
  cutAll(): void {
    for (const connection of this.open) connection.abort(new Error('The connection was cut off.'));
  }

  private connect(draws: Draws, cut: AbortSignal): Broker {
    const gone = new AbortController();
    const broken = AbortSignal.any([gone.signal, cut]);
    setMaxListeners(0, broken);
    this.open.add(gone);
    const life = this.isFair
      ? undefined
      : setTimeout(() => gone.abort(new Error('cut')), -Math.log(1 - draws.fraction()) * 10 * MINUTE);
    let waiting = 0;
    let arrival = 0;
    let roomy = () => {};
    return {
      broken,
      publish: (message, settled) => {
        waiting++;
        // In the order in which they were sent; confirms overtake each other.
        arrival = Math.max(arrival, Date.now() + draws.whole(1, 200));
        const refuses = !this.isFair && draws.chance(1 / 100);
        const confirm = draws.chance(0.05) ? draws.whole(1, 60) * SECOND : draws.whole(1, 300);
        setTimeout(() => {
          if (--waiting < ROOM) roomy();
          if (broken.aborted) return;
          if (refuses) this.refused++;
          else this.taken.push({ routingKey: message.routingKey, number: message.number });
          setTimeout(() => broken.aborted || settled(!refuses), confirm);
        }, arrival - Date.now());
        return waiting < ROOM;
      },
      drained: () =>
        new Promise((resolve) => {
          roomy = resolve;
          broken.addEventListener('abort', () => resolve(), { once: true });
          if (waiting < ROOM || broken.aborted) resolve();
        }),
      close: async () => {
        clearTimeout(life);
        this.open.delete(gone);
        gone.abort(new Error('closed'));
      },
    };
  }
}
