/** What one side puts in and the other takes out, in order, until its end: what is left then is given by nobody. */
export class AsyncQueue<T> {
  private readonly held: T[] = [];
  private ended: { readonly cause: unknown } | undefined;
  private waiting: (() => void) | undefined;

  put(value: T): void {
    this.held.push(value);
    this.waiting?.();
  }

  /** The first end counts. */
  end(cause: unknown): void {
    this.ended ??= { cause };
    this.waiting?.();
  }

  /** The next value; rejects with the cause of the end, or the signal's reason. One taker at a time. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      if (this.ended !== undefined) throw this.ended.cause;
      const value = this.held.shift();
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => {
        const done = () => {
          signal.removeEventListener('abort', done);
          this.waiting = undefined;
          resolve();
        };
        this.waiting = done;
        signal.addEventListener('abort', done);
      });
    }
  }
}
