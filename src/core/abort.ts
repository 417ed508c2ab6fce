/** An abort signal that follows an outer one until it is released. */
export class LinkedAbort {
  private readonly controller = new AbortController();
  private readonly outer: AbortSignal | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.outer = outer;
    if (outer?.aborted) this.relay();
    else outer?.addEventListener('abort', this.relay, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Stops following the outer signal. */
  release(): void {
    this.outer?.removeEventListener('abort', this.relay);
  }

  /** Releases it and aborts whatever still runs under it. */
  abort(reason?: unknown): void {
    this.release();
    this.controller.abort(reason);
  }

  private readonly relay = () => this.controller.abort(this.outer?.reason);
}

/** Waits for work until the signal aborts; rejects with its reason then. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}

/** `withTimeout` waited too long. */
export class WaitTimeout extends Error {}

/** Waits for work as `untilAborted`, and at most `milliseconds`; rejects with `WaitTimeout` then. */
export function withTimeout<T>(work: Promise<T>, milliseconds: number, signal?: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new WaitTimeout(`Nothing for ${milliseconds / 1000} s.`)), milliseconds);
  });
  return untilAborted(Promise.race([work, late]), signal).finally(() => clearTimeout(timer));
}
