/**
 * Runs work, such as a sync, for many callers: those that call while it runs share the next run, since one that began before
 * may not cover what they wrote.
 */
export function sharedRun<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    const run = work();
    running = run.catch(() => undefined);
    return run;
  };
  return () => {
    next ??= running.then(begin);
    return next;
  };
}
