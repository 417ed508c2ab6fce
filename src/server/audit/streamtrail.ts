import { nowOf } from '../clock.ts';
import type { Service } from '../service.ts';
import type { Told } from '../stream/pages.ts';
import type { Actor } from './entries.ts';

/** Time after which what was sent to a listener is noted, and how many messages are noted at once at most. */
const NOTE_MS = 5000;
const MAX_MESSAGES = 5000;

/** Notes what one listener of the stream gets, under the id of the request that asked for it (contract §8). */
export class StreamTrail {
  private messages = 0;
  private unnoted: Told[] = [];
  private waiting = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly service: Pick<Service, 'reads' | 'clock'>,
    private readonly org: number,
    private readonly actor: Actor,
  ) {}

  /** Notes that somebody listens. Rejects with a Refusal (503) where that cannot be written. */
  async begin(): Promise<void> {
    await this.service.reads.disclose(this.entry('stream.listen'));
  }

  /** Notes messages that are about to be sent. */
  add(told: Told): void {
    this.messages += told.messages;
    this.waiting += told.messages;
    // The bytes are shared with other listeners, and not needed here.
    this.unnoted.push({ ...told, bytes: NO_BYTES });
    this.timer ??= setTimeout(() => this.noteSent(), NOTE_MS);
    if (this.waiting >= MAX_MESSAGES) this.noteSent();
  }

  /** Notes the end of listening, with all that was sent since the last entry and the number of all messages. */
  end(): void {
    this.note('stream.end', this.messages);
  }

  private noteSent(): void {
    this.note('stream.send', this.waiting);
  }

  private note(operation: string, count: number): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ids = this.unnoted.flatMap(({ records }) => records);
    const patients = this.unnoted.flatMap((told) => told.patients);
    this.unnoted = [];
    this.waiting = 0;
    this.service.reads.note({ ...this.entry(operation), ids, patients, count });
  }

  private entry(operation: string) {
    return { org: this.org, at: nowOf(this.service), actor: this.actor, operation };
  }
}

const NO_BYTES = Buffer.alloc(0);
