/** Those that wait for a turn, the first one first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that no other caller gets. Lists, reports and groups of writes take one before
 * they begin, and long reports between their parts: what is quick, such as reading one record, then waits for one such
 * part at most, and not for all that came in before it. The event loop is one for the process, and so are the turns.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  // Set from here it runs only after everything that has come in meanwhile.
  if (waiting.length > 0) setImmediate(giveTurn);
}
