import pLimit from 'p-limit';

/** Results that may wait for an earlier one, for each that is worked on: one slow item must not stop the others. */
const AHEAD = 8;

/**
 * Works on items, `width` at a time and begun in their order, and gives the results in that order; no more items are
 * taken than are worked on or wait. When the source or the work throws, what was begun ends first; results before it
 * are given.
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const limit = pLimit(width);
  const items = source[Symbol.asyncIterator]();
  const waiting: Promise<R>[] = [];
  let stopped = false;
  let ended: { readonly cause?: unknown } | undefined;
  try {
    for (;;) {
      while (ended === undefined && waiting.length < width * AHEAD) {
        const next = await items.next().catch((cause: unknown) => ({ failed: cause }));
        if ('failed' in next) ended = { cause: next.failed };
        else if (next.done) ended = {};
        else
          waiting.push(
            begun(limit(() => (stopped ? Promise.reject(new Error('Nobody waits for it.')) : work(next.value)))),
          );
      }
      const first = waiting.shift();
      if (first === undefined) break;
      yield await first;
    }
    if (ended !== undefined && 'cause' in ended) throw ended.cause;
  } finally {
    stopped = true;
    await Promise.allSettled(waiting);
    await items.return?.();
  }
}

/** Its failure is thrown where its turn comes; until then it must not count as unhandled. */
function begun<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => undefined);
  return promise;
}
