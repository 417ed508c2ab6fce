import { nowOf } from '../../clock.ts';
import { findOrganization, organizationIds } from '../../organizations.ts';
import type { Service } from '../../service.ts';
import { traced } from '../../tracing/tracing.ts';
import { resyncMessage, type SentMessage, type StoredMessage } from '../outbox.ts';
import type { Broker } from './broker.ts';
import { ConfirmWindow } from './window.ts';

/** The parts of the service that a relay uses. */
export type Relayed = Pick<Service, 'store' | 'stream' | 'clock'>;

/** Maximum messages sent and not yet confirmed: enough to keep a broker busy, few enough to send again. */
const IN_FLIGHT = 500;
const PAGE = 500;
/** Polling interval, whether or not a new message was signalled. */
const POLL_MS = 60_000;
/** How long to wait for confirms when the server stops. */
const LAST_CONFIRMS_MS = 2000;

/** Up to where a broker has every message, and how many messages were newly confirmed. */
interface Confirmed {
  readonly upTo: number;
  readonly messages: number;
}

/** One connection of a relay: sends from a position on, and reports what has been confirmed without a gap. */
export class Session {
  private readonly window: ConfirmWindow;
  /** The connection broke, the broker refused a message, or the relay stops. */
  private readonly ending: AbortSignal;
  private readonly refusing = new AbortController();
  private wake = () => {};

  constructor(
    private readonly service: Relayed,
    private readonly broker: Broker,
    after: number,
    private readonly stopping: AbortSignal,
    private readonly onConfirmed: (confirmed: Confirmed) => void,
  ) {
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
        const { floor } = stream;
        await this.sendResync(floor);
        after = floor;
        continue;
      }
      if (page.length === 0) await stream.beyond(after, POLL_MS, this.ending);
      else after = await this.sendPage(page, after);
    }
    if (this.stopping.aborted) return this.lastConfirms();
    throw this.ending.reason;
  }

  /** Sends messages until the session ends; the number of the last one that was sent. */
  private sendPage(page: readonly StoredMessage[], after: number): Promise<number> {
    const attributes = { 'messaging.system': 'rabbitmq', 'messaging.batch.message_count': page.length };
    return traced({ name: 'relay messages', kind: 'producer', attributes, isRoot: true }, async () => {
      let last = after;
      for (const message of page) {
        if (!(await this.send(message, message.id))) break;
        last = message.id;
      }
      return last;
    });
  }

  /**
   * Messages up to the floor are gone: sends a resync message to every organization that has lost any. Which of them the
   * broker had is not known, so `requested` is 0.
   */
  private async sendResync(floor: number): Promise<void> {
    const sendTime = nowOf(this.service);
    const { read } = this.service.store;
    for (const id of await organizationIds(read)) {
      const { org } = (await findOrganization(read, id)) ?? {};
      if (org === undefined) continue;
      const { floor: resumedAfter } = await this.service.stream.positionsOf(org);
      if (resumedAfter === 0) continue;
      if (!(await this.send(resyncMessage(id, { requested: 0, resumedAfter }, sendTime), floor))) return;
    }
  }

  /** Sends a message once there is room for it; false when the session ends. With it the relay has reached `id`. */
  private async send(message: SentMessage, id: number): Promise<boolean> {
    while (this.window.size >= IN_FLIGHT && !this.ending.aborted) await this.settledOne();
    if (this.ending.aborted) return false;
    const index = this.window.add(id);
    const roomy = this.broker.publish(message, (taken) => this.settled(index, taken));
    if (!roomy) await this.broker.drained();
    return true;
  }

  private settled(index: number, taken: boolean): void {
    // What a broken connection leaves unconfirmed is sent again on the next one.
    if (this.broker.broken.aborted) return;
    if (!taken) {
      this.refusing.abort(new Error('The broker refused a message.'));
      return;
    }
    const { size } = this.window;
    this.window.confirm(index);
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
