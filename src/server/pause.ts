/**
 * Waits for so many milliseconds, or until the signal is aborted, and never fails. By the global timers: those of
 * `node:timers/promises` know nothing of the virtual time that tests live on.
 */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal?.addEventListener('abort', done);
  });
}
