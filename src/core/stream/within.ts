/** Waited too long: see `within`. */
export class TooLong extends Error {}

/** Waits for work no longer than `milliseconds` (rejects with `TooLong`) and than the signal (rejects with its reason). */
export function within<T>(work: Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    const timer = setTimeout(() => reject(new TooLong(`Nothing for ${milliseconds / 1000} s.`)), milliseconds);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
    if (signal.aborted) stop();
  });
}
