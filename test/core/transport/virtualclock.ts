import type { Clock } from '../../../src/core/clock.ts';

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock that jumps to the next sleeper as soon as everything else stands still: hours pass in no time. */
export class VirtualClock implements Clock {
  private time: number;
  private timers: Timer[] = [];

  constructor(time = Date.UTC(2026, 2, 2, 12)) {
    this.time = time;
  }

  readonly now = (): number => this.time;

  readonly sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((done, reject) => {
      signal?.throwIfAborted();
      const timer = { at: this.time + milliseconds, wake: done };
      this.timers.push(timer);
      signal?.addEventListener('abort', () => {
        this.timers = this.timers.filter((other) => other !== timer);
        reject(signal.reason);
      });
    });

  /** Lets time pass until the work is done; fails when nothing can ever wake it. */
  async run<T>(work: Promise<T>): Promise<T> {
    let running = true;
    const end = () => {
      running = false;
    };
    work.then(end, end);
    for (;;) {
      await new Promise((done) => setImmediate(done));
      if (!running) return work;
      if (this.timers.length === 0) throw new Error('Everything waits, and nobody sleeps.');
      const next = this.timers.reduce((first, timer) => (timer.at < first.at ? timer : first));
      this.timers = this.timers.filter((timer) => timer !== next);
      this.time = Math.max(this.time, next.at);
      next.wake();
    }
  }
}
