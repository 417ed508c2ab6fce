import type { Context } from '../../context.ts';
import { counted } from '../../terminal/rowprogress.ts';
import type { Progress } from '../../terminal/streams.ts';

/** Short works show no progress, milliseconds. */
const PATIENCE = 1000;

/** Tells on the terminal what a work on the server's data is at: `documents: 12,500`. */
export class WorkProgress {
  private readonly context: Context;
  private readonly started: number;
  private what = '';
  private count = 0;
  private stopped = false;
  private progress: Promise<Progress> | undefined;

  constructor(context: Context) {
    this.context = context;
    this.started = context.clock.now();
  }

  readonly at = (what: string, count: number): void => {
    this.count = what === this.what ? this.count + count : count;
    this.what = what;
    const { startProgress } = this.context.streams;
    if (startProgress === undefined || this.context.clock.now() - this.started < PATIENCE) return;
    this.progress ??= startProgress();
    const text = `${what}: ${counted(this.count)}`;
    void this.progress.then((progress) => {
      if (!this.stopped) progress.show(text);
    });
  };

  /** Resolves when the line is gone: what is printed then stands in its place. */
  async stop(): Promise<void> {
    this.stopped = true;
    (await this.progress)?.stop();
  }
}
