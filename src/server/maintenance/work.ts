/** How a long work tells where it is, and hears that it is to end. */
export interface Work {
  /** Called with what was done, and how many more of it. */
  readonly progress: (what: string, count: number) => void;
  readonly signal: AbortSignal;
  /** UTC milliseconds. */
  readonly now: () => number;
}

/** Between two parts of a work: tells the progress, lets signals in, and throws the reason when it is to end. */
export async function turn({ progress, signal }: Work, what: string, count: number): Promise<void> {
  progress(what, count);
  // Statements of SQLite run at once: without this nothing else would.
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}
