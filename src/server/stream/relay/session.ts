import { nowOf } from '../../clock.ts';
import { organizationIds } from '../../organizations.ts';
import type { Service } from '../../service.ts';
import type { StoredMessage } from '../outbox.ts';
import { resyncMessage } from '../resync.ts';
import type { Broker } from './broker.ts';
import { ConfirmWindow } from './window.ts';

/** What a relay needs of the service. */
export type Relayed = Pick<Service, 'store' | 'stream' | 'clock'>;

/** Messages sent and not yet confirmed at most: enough to keep a broker busy, few enough to send again. */
const IN_FLIGHT = 500;
const PAGE = 500;
/** A reader looks again after so long, whether or not it was told of anything new. */
const LOOK_MS = 60_000;
/** How long confirms are waited for when the server stops. */
const LAST_CONFIRMS_MS = 2000;

/** How far a broker has everything, and how many messages more than before. */
export interface Confirmed {
  readonly upTo: number;
  readonly messages: number;
}

/** One connection of a relay: sends from a position on, and tells what has been confirmed without a gap. */
export class Session {
  private readonly service: Relayed;
  private readonly broker: Broker;
  private readonly stopping: AbortSignal;
  private readonly onConfirmed: (confirmed: Confirmed) => void;
  private readonly window: ConfirmWindow;
  /** The connection broke, the broker refused a message, or the relay stops. */
  private readonly ending: AbortSignal;
  private readonly refusing = new AbortController();
  private wake = () => {};

  constructor(
    service: Relayed,
    broker: Broker,
    after: number,
    stopping: AbortSignal,
    onConfirmed: (confirmed: Confirmed) => void,
  ) {
    this.service = service;
    this.broker = broker;
    this.stopping = stopping;
    this.onConfirmed = onConfirmed;
    this.window = new ConfirmWindow(after);
    this.ending = AbortSignal.any([stopping, broker.broken, this.refusing.signal]);
    this.ending.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Sends until the relay stops. Rejects when the connection breaks or the broker refuses a message. */
  async pump(): Promise<void> {
    const { stream } = this.service;
    for (let after = this.window.confirmed; !this.ending.aborted; ) {
      const page = await stream.readMessages(after, PAGE);
      if (after < stream.floor) {
        await this.tellGap(after, stream.floor);
        after = stream.floor;
        continue;
      }
      for (const message of page) {
        if (!(await this.send(message))) break;
        after = message.id;
      }
      if (page.length === 0) await stream.beyond(after, LOOK_MS, this.ending);
    }
    if (this.stopping.aborted) return this.lastConfirms();
    throw this.ending.reason;
  }

  /** Messages up to the floor are gone: every organization is told, once. */
  private async tellGap(requested: number, resumedAfter: number): Promise<void> {
    const sendTime = nowOf(this.service);
    const gap = { requested, resumedAfter };
    for (const id of await organizationIds(this.service.store.read)) {
      if (!(await this.send(resyncMessage(id, gap, sendTime)))) return;
    }
  }

  /** Sends a message when there is room for it; false when the session ends. */
  private async send(message: StoredMessage): Promise<boolean> {
    while (this.window.size >= IN_FLIGHT && !this.ending.aborted) await this.settledOne();
    if (this.ending.aborted) return false;
    const place = this.window.add(message.id);
    const roomy = this.broker.publish(message, (taken) => this.settled(place, taken));
    if (!roomy) await this.broker.drained();
    return true;
  }

  private settled(place: number, taken: boolean): void {
    // What a broken connection leaves open is sent again on the next one.
    if (this.broker.broken.aborted) return;
    if (!taken) {
      this.refusing.abort(new Error('The broker refused a message.'));
      return;
    }
    const { size } = this.window;
    this.window.confirm(place);
    const messages = size - this.window.size;
    if (messages > 0) this.onConfirmed({ upTo: this.window.confirmed, messages });
    this.wake();
  }

  private settledOne(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      if (this.ending.aborted) resolve();
    });
  }

  private async lastConfirms(): Promise<void> {
    const giveUp = AbortSignal.timeout(LAST_CONFIRMS_MS);
    giveUp.addEventListener('abort', () => this.wake(), { once: true });
    this.broker.broken.addEventListener('abort', () => this.wake(), { once: true });
    while (this.window.size > 0 && !giveUp.aborted && !this.broker.broken.aborted) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (giveUp.aborted || this.broker.broken.aborted) resolve();
      });
    }
  }
}
