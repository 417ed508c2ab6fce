/**
 * Does work that has only so long: its signal aborts after `milliseconds` with a TimeoutError, or with `stopping`. A signal
 * of AbortSignal.timeout that others are combined with may be collected as garbage before its time, and nothing ends then
 * (nodejs/node#57736).
 */
export async function withTimeLimit<T>(
  milliseconds: number,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timeout = () =>
    late.abort(new DOMException(`No answer within ${milliseconds / 1000} seconds.`, 'TimeoutError'));
  const timer = setTimeout(timeout, milliseconds);
  try {
    return await work(AbortSignal.any([stopping, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
