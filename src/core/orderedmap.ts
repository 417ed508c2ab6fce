import pLimit from 'p-limit';

/** Results that may wait for an earlier one, per concurrent item: one slow item must not block the others. */
const MAX_WAITING = 8;

/**
 * Processes items, `width` at a time and started in their order, and yields the results in that order; takes no more
 * items than run or wait. When the source or the work throws, started work ends first; earlier results are yielded.
 */
export async function* mapInOrder<T, R>(
  source: AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const limit = pLimit(width);
  const items = source[Symbol.asyncIterator]();
  const waiting: Promise<R>[] = [];
  let isAborted = false;
  let ended: { readonly cause?: unknown } | undefined;
  try {
    for (;;) {
      while (ended === undefined && waiting.length < width * MAX_WAITING) {
        const next = await items.next().catch((cause: unknown) => ({ failed: cause }));
        if ('failed' in next) ended = { cause: next.failed };
        else if (next.done) ended = {};
        else waiting.push(handled(limit(() => (isAborted ? Promise.reject(new Error('Aborted.')) : work(next.value)))));
      }
      const first = waiting.shift();
      if (first === undefined) break;
      yield await first;
    }
    if (ended !== undefined && 'cause' in ended) throw ended.cause;
  } finally {
    isAborted = true;
    await Promise.allSettled(waiting);
    await items.return?.();
  }
}

/** Its failure is thrown in its order; until then it must not count as unhandled. */
function handled<R>(promise: Promise<R>): Promise<R> {
  promise.catch(() => undefined);
  return promise;
}
