import { describe, expect, it, vi } from 'vitest';
import { postMessage, readReceiver } from '../../../src/core/stream/forward.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { answer, broken, Script, type Step } from '../transport/script.ts';
import { messageOf } from './messages.ts';

const url = new URL('http://localhost:3000/hook?x=1');

async function post(step: Step, signal = new AbortController().signal) {
  const script = new Script(step);
  const posting = { send: script.send, url, userAgent: 'molar/1', signal, now: () => 0 };
  const thrown = await postMessage(messageOf(41), '{"id":41}', posting).catch((cause: unknown) => cause);
  return { thrown, request: script.requests[0] as OutgoingRequest };
}

describe('postMessage', () => {
  it('sends the message with its id, and nothing of the connection to the API', async () => {
    const { request, thrown } = await post(answer(204, ''));
    expect(thrown).toBeUndefined();
    const { signal: _, ...sent } = request;
    expect(sent).toEqual({
      method: 'POST',
      url: 'http://localhost:3000/hook?x=1',
      headers: { 'content-type': 'application/json', 'x-message-id': '41', 'user-agent': 'molar/1' },
      body: '{"id":41}',
    });
  });

  it.each([
    [301, {}, undefined],
    [400, {}, undefined],
    [429, { 'retry-after': '3' }, 3000],
    [500, {}, undefined],
  ])('is not taken with %i', async (status, headers, retryAfter) => {
    const { thrown } = await post(answer(status, 'no', headers as Record<string, string>));
    expect(thrown).toMatchObject({
      name: 'NotAccepted',
      message: `localhost:3000 responded with HTTP ${status}.`,
      retryAfter,
    });
  });

  it('is not taken without an answer', async () => {
    expect((await post(broken(true))).thrown).toMatchObject({ name: 'NotAccepted', message: broken(true).message });
    const silent = {
      status: 200,
      headers: {},
      body: (async function* () {
        await new Promise(() => undefined);
      })(),
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const posting = post(silent);
      await vi.advanceTimersByTimeAsync(30_000);
      const { thrown, request } = await posting;
      expect(thrown).toMatchObject({ message: 'localhost:3000 did not respond within 30 s.' });
      // It would take the message later, too, when it was offered again.
      expect(request.signal?.aborted).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends with the reason of the signal', async () => {
    expect((await post(answer(200, ''), AbortSignal.abort(new Error('stopped')))).thrown).toMatchObject({
      message: 'stopped',
    });
  });
});

describe('the address of a receiver', () => {
  it.each(['http://localhost:3000/x', 'http://127.0.0.1/', 'http://[::1]:8080/', 'https://example.com/hook?a=b'])(
    'may be %s',
    (text) => {
      expect(readReceiver(text, false).href).toBe(text);
    },
  );

  it.each([
    ['localhost:3000', 'must be a URL'],
    ['ftp://example.com/', 'must be a URL'],
    ['/hook', 'must be a URL'],
    ['https://user:hidden@example.com/', 'must not hold a user name'],
    ['https://hidden@example.com/', 'must not hold a user name'],
    ['https://:hidden@example.com/', 'must not hold a user name'],
    ['http://example.com/', 'plain http://'],
  ])('may not be %s', (text, message) => {
    expect(() => readReceiver(text, false)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining(message),
        items: [expect.objectContaining({ source: '--forward-to' })],
      }),
    );
    expect(() => readReceiver(text, false)).not.toThrow('hidden');
  });

  it('may be plain http with --allow-http', () => {
    expect(readReceiver('http://example.com/', true).host).toBe('example.com');
  });
});
