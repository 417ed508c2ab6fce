/** Work that several callers need at the same time and that is done once for all of them. */
export class SharedWork<T> {
  private readonly start: (signal: AbortSignal) => Promise<T>;
  private running: Running<T> | undefined;

  constructor(start: (signal: AbortSignal) => Promise<T>) {
    this.start = start;
  }

  /**
   * Joins the work that runs, or starts it. A caller whose signal is aborted leaves with the signal's reason; the
   * others still get the result. The work itself is aborted when the last one has left.
   */
  async join(signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.running ??= this.begin();
    const { running } = this;
    running.callers++;
    try {
      return await Promise.race([running.result, ...(signal ? [aborted(signal, running.ended.signal)] : [])]);
    } finally {
      if (--running.callers === 0) {
        if (this.running === running) this.running = undefined;
        running.stop.abort(signal?.reason);
      }
    }
  }

  private begin(): Running<T> {
    const stop = new AbortController();
    const ended = new AbortController();
    const result = this.start(stop.signal).finally(() => {
      ended.abort();
      if (this.running === running) this.running = undefined;
    });
    // Those who wait see its failure; when all have left nobody does.
    result.catch(() => undefined);
    const running: Running<T> = { result, stop, ended, callers: 0 };
    return running;
  }
}

interface Running<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  /** Aborted when there is a result, to let go of the callers' signals. */
  readonly ended: AbortController;
  callers: number;
}

function aborted(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: until });
  });
}
