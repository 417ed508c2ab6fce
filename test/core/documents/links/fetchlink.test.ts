import { afterEach, expect, it, vi } from 'vitest';
import { fetchLink, type LinkFetching } from '../../../../src/core/documents/links/fetchlink.ts';
import { DownloadServer } from '../downloads/downloadserver.ts';

const STALL = 1000;

afterEach(() => {
  vi.useRealTimers();
});

/** Fetches three bytes, each of which takes so many milliseconds, without retries. */
function fetched(pause: number): Promise<string> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const base = new DownloadServer().fetching();
  const send: LinkFetching['send'] = async ({ signal }) => ({
    status: 200,
    headers: {},
    body: (async function* () {
      for (const byte of 'abc') {
        vi.advanceTimersByTime(pause);
        signal?.throwIfAborted();
        yield Buffer.from(byte);
      }
    })(),
  });
  const fetching = { ...base, send, stall: STALL, retry: { ...base.retry, maxRetries: 0 } };
  return fetchLink(new URL('https://files.example.com/x'), fetching, async (chunks) => {
    let text = '';
    for await (const chunk of chunks) text += Buffer.from(chunk);
    return text;
  });
}

it('waits for each byte as long as for the first, however long they take together', async () => {
  expect(await fetched(STALL - 1)).toBe('abc');
  // Nothing is left that would keep the process.
  expect(vi.getTimerCount()).toBe(0);
});

it('is cut off where one takes too long', async () => {
  await expect(fetched(STALL)).rejects.toMatchObject({ code: 'network.unreachable' });
});
