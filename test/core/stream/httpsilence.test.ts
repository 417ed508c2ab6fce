import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HttpSource } from '../../../src/core/stream/httpsource.ts';
import { ConnectionSilent } from '../../../src/core/stream/source.ts';
import type { IncomingResponse, Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, Script } from '../transport/script.ts';
import { eventOf, messageOf, streamAnswer } from './messages.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => undefined);

/** What one connection gives, and how it ends. */
async function connect(send: Send, silence?: number) {
  const source = new HttpSource(clientOf({ send }), {
    ...{ keys: [], after: undefined, now: () => 0 },
    ...(silence !== undefined && { silence }),
  });
  const seen: string[] = [];
  const run = async () => {
    for await (const item of source.connect(new AbortController().signal)) seen.push(item.kind);
  };
  const state = { seen, end: undefined as unknown };
  void run().catch((cause: unknown) => {
    state.end = cause;
  });
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

function unending(status: number): IncomingResponse {
  const body = (async function* () {
    yield Buffer.from('{');
    await never;
  })();
  return { ...answer(status, ''), body };
}

it.each<[string, Send, readonly string[]]>([
  ['does not answer', () => never, []],
  ['stops telling', new Script(streamAnswer([eventOf(messageOf(41))], { hangs: true })).send, ['opened', 'message']],
])('a server that %s is silent after three heartbeats, and may be tried again', async (_name, send, seen) => {
  const state = await connect(send);
  await vi.advanceTimersByTimeAsync(44_999);
  expect(state).toEqual({ seen, end: undefined });
  await vi.advanceTimersByTimeAsync(1);
  expect(state).toMatchObject({ seen, end: { message: 'The server was silent for 45 s.' } });
  expect(state.end).toBeInstanceOf(ConnectionSilent);
});

it('one that is waited for less long is silent after that', async () => {
  const state = await connect(new Script(streamAnswer([eventOf(messageOf(41))], { hangs: true })).send, 20);
  await vi.advanceTimersByTimeAsync(20);
  expect(state).toMatchObject({ seen: ['opened', 'message'], end: { message: 'The server was silent for 0.02 s.' } });
  expect(state.end).toBeInstanceOf(ConnectionSilent);
});

it('a refusal counts though the server does not say all of it', async () => {
  const state = await connect(new Script(unending(503)).send);
  await vi.advanceTimersByTimeAsync(45_000);
  expect(state.end).toMatchObject({ name: 'ConnectionLost', failure: { status: 503 } });
});

it('a refusal counts though the connection is cut off in it', async () => {
  const body = (async function* () {
    yield Buffer.from('{');
    throw new Error('other side closed');
  })();
  const state = await connect(new Script({ ...answer(503, ''), body }).send);
  expect(state.end).toMatchObject({ name: 'ConnectionLost', failure: { status: 503 } });
});

it('no more of a refusal is read than may be of use', async () => {
  let read = 0;
  const body = (async function* () {
    for (; read < 1000; read++) yield Buffer.alloc(1024, 'x');
  })();
  const state = await connect(new Script({ ...answer(500, ''), body }).send);
  expect(state.end).toMatchObject({ name: 'ConnectionLost', failure: { status: 500 } });
  expect(read).toBeLessThan(100);
});
