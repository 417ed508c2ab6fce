import type { IncomingResponse } from '../../transport/send.ts';

/** Aborts an attempt over which nothing comes any more, and tells its failures from those of the taker. */
export class StallWatch {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly milliseconds: number;
  private timer: NodeJS.Timeout | undefined;
  private failure: unknown;

  /** `milliseconds` without a byte end the attempt, and so does `outer`. */
  constructor(milliseconds: number, outer: AbortSignal | undefined) {
    this.milliseconds = milliseconds;
    this.signal = AbortSignal.any([this.controller.signal, ...(outer ? [outer] : [])]);
    this.restart();
  }

  /** Whether a thrown value came out of the body itself. */
  ended(cause: unknown): boolean {
    return this.controller.signal.aborted || (this.failure !== undefined && this.failure === cause);
  }

  /** The body of a response, its reader's failures marked as such. */
  async *chunks(response: IncomingResponse): AsyncGenerator<Uint8Array> {
    const body = response.body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await body.next().catch((cause: unknown) => this.fail(cause));
        if (next.done) return;
        this.restart();
        yield next.value;
      }
    } finally {
      // A body that is left early may fail once more on the way out; that says nothing.
      await body.return?.().catch(() => undefined);
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private fail(cause: unknown): never {
    this.failure = cause;
    throw cause;
  }

  private restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.controller.abort(new Error('stalled')), this.milliseconds);
  }
}
