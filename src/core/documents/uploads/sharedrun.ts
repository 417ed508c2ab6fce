/** Runs work for many callers: those that call while it runs share the next run, never one that began before. */
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
