/** Callers waiting for a turn of the event loop, first in, first out. */
const queue: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other caller gets. Lists, reports and groups of writes await one before
 * each part of their work, so that quick requests wait for one such part at most.
 */
export function fairTurn(): Promise<void> {
  return new Promise((resolve) => {
    queue.push(resolve);
    if (queue.length === 1) setImmediate(runNext);
  });
}

function runNext(): void {
  queue.shift()?.();
  // Scheduled from here it runs only after everything that has arrived meanwhile.
  if (queue.length > 0) setImmediate(runNext);
}
