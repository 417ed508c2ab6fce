/** A body that fails as soon as a signal says so. */
export async function* until(signal: AbortSignal, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  const cut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  cut.catch(() => undefined);
  for (;;) {
    const { done, value } = await Promise.race([parts.next(), cut]);
    if (done) return;
    yield value;
  }
}
