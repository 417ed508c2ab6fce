import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { attempt, targetOf } from '../../../src/core/transport/attempt.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { ConnectionFailure } from '../../../src/core/transport/send.ts';
import { SleepLog } from './script.ts';

const REQUEST: OutgoingRequest = {
  method: 'POST',
  url: 'https://api.example.com/x',
  headers: { 'x-request-id': 'mine' },
};

/** Waits until it is aborted, as a connection does on which nothing comes. */
const silent: Send = async ({ body, signal }) => {
  if (body !== undefined && typeof body !== 'string') for await (const _ of body.open());
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new ConnectionFailure('aborted', { sent: true })));
  });
};

const UNSENT = { kind: 'lost', sent: false, permanent: false };

const accept = (body: Uint8Array) => Buffer.from(body).toString();

describe('an attempt', () => {
  const unsaid: Send = ({ signal }) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

  it.each([
    ['may have been done', silent],
    ['may have been done where nobody tells what was sent', unsaid],
  ])('ends when no answer comes in time, and %s', async (_, send) => {
    const result = await attempt({ send, clock: new SleepLog(), timeout: 20 }, REQUEST, accept);
    expect(result.end).toEqual({ kind: 'lost', sent: true, permanent: false });
    expect(result.failure?.message).toBe('No complete response within 0.02 s.');
    expect(result.notice).toMatchObject({ status: null, requestId: 'mine' });
  });

  it.each([
    ['has the whole timeout once all is sent', 100, 149, { kind: 'completed', status: 200 }],
    ['ends with it then', 100, 150, { kind: 'lost', sent: true, permanent: false }],
    ['ends when its own body stalls, of which the server cannot have everything', 150, 0, UNSENT],
  ])('%s, however long sending takes', async (_, each, response, end) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const body = {
      length: 3,
      open: async function* () {
        for (let sent = 0; sent < 3; sent++) {
          await vi.advanceTimersByTimeAsync(each);
          yield Buffer.from('x');
        }
        // The last piece is on its way as long as any other.
        await vi.advanceTimersByTimeAsync(each);
      },
    };
    const send: Send = async ({ body: source, signal }) => {
      const cut = (sent: boolean) => {
        if (signal?.aborted) throw new ConnectionFailure('aborted', { sent });
      };
      if (typeof source === 'object') for await (const _ of source.open()) cut(false);
      await vi.advanceTimersByTimeAsync(response);
      cut(true);
      return { status: 200, headers: {}, body: chunks('ok') };
    };
    const result = await attempt({ send, clock: new SleepLog(), timeout: 150 }, { ...REQUEST, body }, accept);
    expect(result.end).toEqual(end);
  });

  it('sends a text as it is', async () => {
    const sent: unknown[] = [];
    const send: Send = async ({ body }) => {
      sent.push(body);
      return { status: 200, headers: {}, body: chunks('ok') };
    };
    await attempt({ send, clock: new SleepLog(), timeout: 1000 }, { ...REQUEST, body: '{"id":1}' }, accept);
    expect(sent).toEqual(['{"id":1}']);
  });

  it('leaves no timer behind when its body is read on after it has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let source: AsyncIterator<Uint8Array> | undefined;
      const body = {
        length: 2,
        open: async function* () {
          yield Buffer.from('x');
          yield Buffer.from('x');
        },
      };
      const send: Send = async (request) => {
        source = typeof request.body === 'object' ? request.body.open()[Symbol.asyncIterator]() : undefined;
        await source?.next();
        throw new ConnectionFailure('cut', { sent: false });
      };
      await attempt({ send, clock: new SleepLog(), timeout: 1000 }, { ...REQUEST, body }, accept);
      expect(await source?.next()).toMatchObject({ done: false });
      expect(await source?.next()).toMatchObject({ done: true });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is lost when the answer is not UTF-8', async () => {
    const send: Send = async () => ({ status: 200, headers: {}, body: chunks(Buffer.from([0x7b, 0xff, 0x7d])) });
    const result = await attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, accept);
    expect(result.failure?.message).toBe('The response is not valid UTF-8. (HTTP 200)');
  });

  it.each([
    [200, [{ link: '<?lastId=2>; rel="next"' }]],
    [201, [{ link: '<?lastId=2>; rel="next"' }]],
    [404, []],
    [300, []],
    [199, []],
  ])('tells the head of an answer of %i before its body comes', async (status, told) => {
    const heads: unknown[] = [];
    const body = async function* () {
      expect(heads).toEqual(told);
      yield Buffer.from('ok');
    };
    const send: Send = async () => ({ status, headers: { link: '<?lastId=2>; rel="next"' }, body: body() });
    const deps = { send, clock: new SleepLog(), timeout: 1000 };
    await attempt(deps, { ...REQUEST, onHead: (headers) => heads.push(headers) }, accept);
    expect(heads).toEqual(told);
  });

  it.each([300, 404, 502])('is an answer of %i though its body is cut off', async (status) => {
    const send: Send = async () => ({ status, headers: { 'content-length': '400' }, body: chunks('<html>') });
    const result = await attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, accept);
    expect(result.end).toEqual({ kind: 'completed', status });
    expect(result.failure).toBeUndefined();
  });

  const odd = new TypeError('odd');
  const unread = localFailure('local.file', 'Cannot read scan.pdf: disk input/output error.');
  const cut = new ConnectionFailure('No response.', { sent: false, cause: unread });
  const success: Send = async () => ({ status: 200, headers: {}, body: chunks('ok') });

  it.each<[string, unknown, Send, (() => Promise<never>)?]>([
    ['what its reader throws', odd, success, () => Promise.reject(odd)],
    ['a fault of ours in sending', odd, () => Promise.reject(odd)],
    ['a file of the body that cannot be read', unread, () => Promise.reject(unread)],
    ['such a file, which cut the connection', unread, () => Promise.reject(cut)],
  ])('throws %s, which no other attempt can cure', async (_, thrown, send, read) => {
    const work = attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, read ?? accept);
    await expect(work).rejects.toBe(thrown);
  });

  it('ends when bytes come, one at a time, for longer than the timeout', async () => {
    const body = async function* () {
      for (;;) {
        await new Promise((done) => setTimeout(done, 5));
        yield Buffer.from(' ');
      }
    };
    const send: Send = async ({ signal }) => ({ status: 200, headers: {}, body: until(signal, body()) });
    const result = await attempt({ send, clock: new SleepLog(), timeout: 60 }, REQUEST, accept);
    expect(result.end).toEqual({ kind: 'lost', sent: true, permanent: false });
    expect(result.failure?.message).toBe('No complete response within 0.06 s. (HTTP 200)');
  });

  it('ends for good behind 64 MiB, without reading on', async () => {
    let given = 0;
    const body = async function* () {
      for (;;) {
        given++;
        yield Buffer.alloc(1024 * 1024, 32);
      }
    };
    const send: Send = async () => ({ status: 200, headers: {}, body: body() });
    const result = await attempt({ send, clock: new SleepLog(), timeout: 60_000 }, REQUEST, accept);
    expect(result.end).toEqual({ kind: 'lost', sent: true, permanent: true });
    expect(result.failure?.message).toBe('The response is larger than 64 MiB. (HTTP 200)');
    expect(given).toBe(65);
  });

  it('is final when the certificate is not trusted', async () => {
    const cause = Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const send: Send = async () => {
      throw new ConnectionFailure('The certificate of api.example.com is not trusted.', { sent: false, cause });
    };
    const result = await attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, accept);
    expect(result.end).toEqual({ kind: 'lost', sent: false, permanent: true });
    expect(result.failure).toMatchObject({ code: 'network.certificate', exitCode: 8 });
  });

  it('keeps the answers apart that it reads into the same memory', async () => {
    const texts = ['one', 'a longer answer', 'x'];
    const answers = texts.map((text) => async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (const letter of text) yield Buffer.from(letter);
      })(),
    }));
    const results = answers.map((send) => attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, accept));
    expect((await Promise.all(results)).map(({ value }) => value)).toEqual(texts);
  });

  it('is read into the memory of an earlier one, of which eight are kept', async () => {
    const earlier = new Set(await memoryOf(20, 1));
    expect((await memoryOf(20, 1)).filter((memory) => earlier.has(memory))).toHaveLength(8);
  });

  it.each([
    ['4 MiB is kept', 4 * 1024 * 1024, true],
    ['more than 4 MiB is not', 4 * 1024 * 1024 + 1, false],
  ])('whose memory grew to %s for the next ones', async (_, bytes, isKept) => {
    // It begins when eight others, which wait for it, have what was kept: its own memory is new.
    const large = Promise.resolve().then(() => memoryOf(1, bytes));
    await memoryOf(8, 1, large);
    const [memory] = await large;
    expect((await memoryOf(20, 1)).includes(memory)).toBe(isKept);
  });

  it.each([
    ['is cut off', Buffer.from('abc'), '4', 'The response was cut off after 3 of 4 bytes. (HTTP 200)'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), '3', 'The response is not valid UTF-8. (HTTP 200)'],
  ])('has no answer when it %s', async (_, bytes, length, message) => {
    const send: Send = async () => ({
      status: 200,
      headers: { 'content-length': length, 'x-request-id': 'theirs' },
      body: (async function* () {
        yield bytes;
      })(),
    });
    const result = await attempt({ send, clock: new SleepLog(), timeout: 1000 }, REQUEST, accept);
    expect(result.value).toBeUndefined();
    expect(result.failure).toMatchObject({ message, requestId: 'theirs' });
    expect(result.notice).toMatchObject({ status: 200, requestId: 'theirs' });
  });

  it('shares a signal with any number of others, without a warning of a leak', async () => {
    const warnings: unknown[] = [];
    const note = (warning: unknown) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    const send: Send = async () => ({ status: 200, headers: {}, body: chunks('ok') });
    const deps = { send, clock: new SleepLog(), timeout: 1000 };
    await Promise.all(Array.from({ length: 20 }, () => attempt(deps, { ...REQUEST, signal }, accept)));
    await new Promise((done) => setImmediate(done));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('gives up with the reason of the caller', async () => {
    const reason = new Error('stopped');
    const work = attempt(
      { send: silent, clock: new SleepLog(), timeout: 1000 },
      { ...REQUEST, signal: AbortSignal.abort(reason) },
      accept,
    );
    await expect(work).rejects.toBe(reason);
  });
});

describe('targetOf', () => {
  it.each([
    ['https://api.example.com/api/v1/patients', '/api/v1/patients'],
    ['https://api.example.com/p?filter=lastName%3D%3DX&lastId=5', '/p?filter&lastId'],
    ['https://api.example.com/p?a=1&a=2', '/p?a'],
  ])('%s is %s', (url, target) => {
    expect(targetOf(url)).toBe(target);
  });
});

async function* chunks(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof content === 'string' ? Buffer.from(content) : content;
}

/** The memory that so many answers at once are read into; they come when `arrival` does. */
async function memoryOf(answers: number, bytes: number, arrival?: Promise<unknown>) {
  const send: Send = async () => {
    await arrival;
    return { status: 200, headers: {}, body: chunks(Buffer.alloc(bytes, ' ')) };
  };
  const deps = { send, clock: new SleepLog(), timeout: 10_000 };
  const memory = ({ buffer }: Uint8Array) => buffer;
  const results = Array.from({ length: answers }, () => attempt(deps, REQUEST, memory));
  return (await Promise.all(results)).map(({ value }) => value);
}

/** Chunks until a signal is aborted, as a connection gives them. */
async function* until(signal: AbortSignal | undefined, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    if (signal?.aborted) throw new ConnectionFailure('aborted', { sent: true });
    yield chunk;
  }
}
