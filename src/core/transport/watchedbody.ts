/** What is told while a body is read. */
export interface BodyWatcher {
  /** Another piece is about to be handed over. */
  readonly piece: (bytes: Uint8Array) => void;
  /** Whoever reads it asked for more than there is: all of it was taken. */
  readonly end?: () => void;
}

/** The pieces of a body, while a watcher is told of them. No generator: one around another takes its time for each piece. */
export function watchedBody(body: AsyncIterable<Uint8Array>, watcher: BodyWatcher): AsyncIterableIterator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  const watched: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => watched,
    next: async () => {
      const next = await pieces.next();
      if (next.done) watcher.end?.();
      else watcher.piece(next.value);
      return next;
    },
    // Told when it is not read to its end, so that files are closed.
    return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
  };
  return watched;
}
