import { nowOf } from '../../clock.ts';
import { findOrganizationByKey } from '../../organizations.ts';
import { pause } from '../../pause.ts';
import type { Service } from '../../service.ts';
import { traced } from '../../tracing/tracing.ts';
import { resyncMessage, type SentMessage } from '../outbox.ts';
import { type Head, type Position, resumedAfter } from '../positions.ts';
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

/** The broker has every message of an organization up to this one. */
export interface Confirmed {
  readonly org: number;
  readonly position: Position;
}

/** One connection of a relay: sends what a broker lacks, and reports what has been confirmed without a gap. */
export class Session {
  private readonly window = new ConfirmWindow<Confirmed>();
  /** Up to where messages of each organization were sent on this connection. */
  private readonly sent = new Map<number, Position>();
  /** The connection broke, the broker refused a message, or the relay stops. */
  private readonly ending: AbortSignal;
  private readonly refusing = new AbortController();
  private wake = () => {};

  constructor(
    private readonly service: Relayed,
    private readonly broker: Broker,
    /** Up to where the broker has the messages of an organization. */
    private readonly confirmedOf: (org: number) => Position | undefined,
    private readonly stopping: AbortSignal,
    /** Callback with what was newly confirmed, an item a message. */
    private readonly onConfirmed: (confirmed: readonly Confirmed[]) => void,
  ) {
    this.ending = AbortSignal.any([stopping, broker.broken, this.refusing.signal]);
    this.ending.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Sends until the relay stops. Rejects when the connection breaks or the broker refuses a message. */
  async pump(): Promise<void> {
    const { stream } = this.service;
    await stream.refresh();
    while (!this.ending.aborted) {
      const { moves } = stream;
      let behind = false;
      // A page of each in turn, so that one with much to send does not hold up the others.
      for (const head of stream.heads.values()) behind = (await this.sendPage(head)) || behind;
      if (!behind) await stream.beyond(undefined, moves, POLL_MS, this.ending);
    }
    if (this.stopping.aborted) return this.lastConfirms();
    throw this.ending.reason;
  }

  /** Sends the next messages of an organization; false when there were none. */
  private async sendPage({ org, seq }: Head): Promise<boolean> {
    const { stream } = this.service;
    const before = this.sent.get(org);
    if (before?.number === seq || this.ending.aborted) return false;
    const { epoch, ...at } = before === undefined ? await this.startOf(org) : before;
    const { messages, positions } = await stream.readMessages({ org }, at.number, PAGE);
    const resumed = resumedAfter(positions, { epoch, number: at.number });
    if (resumed !== undefined) await this.sendResync(org, { epoch: positions.epoch, number: resumed });
    else if (messages.length > 0) {
      const attributes = { 'messaging.system': 'rabbitmq', 'messaging.batch.message_count': messages.length };
      await traced({ name: 'relay messages', kind: 'producer', attributes, isRoot: true }, async () => {
        for (const message of messages) await this.send(message, org, { epoch, number: message.number });
      });
    }
    return resumed !== undefined || messages.length > 0;
  }

  /** Where this connection begins with an organization. */
  private async startOf(org: number): Promise<Position> {
    const { epoch, after, requested } = await this.service.stream.startAt(
      org,
      this.confirmedOf(org) ?? { epoch: undefined, number: 0 },
    );
    const at = { epoch, number: after };
    if (requested !== undefined) await this.sendResync(org, at);
    this.sent.set(org, at);
    return at;
  }

  /**
   * Messages up to a position are gone, or the broker has had others: says so. Which of them it had is not known, so
   * `requested` is 0.
   */
  private async sendResync(org: number, at: Position): Promise<void> {
    const organization = await findOrganizationByKey(this.service.store.read, org);
    this.sent.set(org, at);
    // Messages outlive their organization.
    if (organization === undefined) return;
    const numbers = { requested: 0, resumedAfter: at.number };
    await this.send(resyncMessage(organization.id, numbers, nowOf(this.service)), org, at);
  }

  /** Sends a message, with which the relay reaches a position, once there is room for it; not when the session ends. */
  private async send(message: SentMessage, org: number, position: Position): Promise<void> {
    while (this.window.size >= IN_FLIGHT && !this.ending.aborted) await this.settledOne();
    if (this.ending.aborted) return;
    this.sent.set(org, position);
    const index = this.window.add({ org, position });
    const roomy = this.broker.publish(message, (taken) => this.settled(index, taken));
    if (!roomy) await this.broker.drained();
  }

  private settled(index: number, taken: boolean): void {
    // What a broken connection leaves unconfirmed is sent again on the next one.
    if (this.broker.broken.aborted) return;
    if (!taken) {
      // A channel that ends refuses what it has not confirmed, just before its connection says why it is gone.
      queueMicrotask(() => this.refusing.abort(new Error('The broker refused a message.')));
      return;
    }
    const confirmed = this.window.confirm(index);
    if (confirmed.length > 0) this.onConfirmed(confirmed);
    this.wake();
  }

  private settledOne(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private async lastConfirms(): Promise<void> {
    let isOver = false;
    const done = new AbortController();
    const over = pause(LAST_CONFIRMS_MS, AbortSignal.any([this.broker.broken, done.signal])).then(() => {
      isOver = true;
      this.wake();
    });
    while (this.window.size > 0 && !isOver) await this.settledOne();
    done.abort();
    await over;
  }
}
