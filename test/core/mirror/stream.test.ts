import { afterEach, describe, expect, it, vi } from 'vitest';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import type { MirrorStore, ReceivedChange } from '../../../src/core/mirror/store.ts';
import { delivered } from '../../../src/core/mirror/sync/delivery.ts';
import { isBehind, Stream } from '../../../src/core/mirror/sync/listening.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';
import { eventOf, messageOf, streamAnswer } from '../stream/messages.ts';
import { answer, clientOf, Script, SleepLog, type Step, success } from '../transport/script.ts';

const PATIENTS = findTable('patients') as MirrorTable;
const IMAGES = findTable('imageattachments') as MirrorTable;
const never = new AbortController().signal;

const streamOf = (script: Pick<Script, 'send'>) => new Stream(clientOf(script), () => 0, never);

describe('the head of a stream', () => {
  const headOf = (isExpected: boolean, ...steps: Step[]) => streamOf(new Script(...steps)).head(isExpected);

  it('is where it begins', async () => {
    expect(await headOf(false, streamAnswer([]))).toBe('0a1b2c3d-40');
    expect(await headOf(true, streamAnswer([], { headers: { 'x-stream-position': '' } }))).toBeUndefined();
  });

  it.each([403, 404])('is none where the service says that there is no stream: %d', async (status) => {
    expect(await headOf(true, answer(status, ''))).toBeUndefined();
  });

  it.each([
    [false, 401],
    [true, 401],
    [true, 400],
  ])('is not known where the service refuses to tell; expected: %s, %d', async (isExpected, status) => {
    await expect(headOf(isExpected, answer(status, ''))).rejects.toMatchObject({ status });
  });

  it('is none where whatever else is wrong with a service that never had one', async () => {
    expect(await headOf(false, answer(400, ''))).toBeUndefined();
    const lost = () => answer(503, '');
    expect(await headOf(false, lost(), lost(), lost())).toBeUndefined();
    await expect(headOf(true, lost(), lost(), lost())).rejects.toMatchObject({ status: 503 });
  });

  it('is asked for again after as long as the service says, and longer each time where it says nothing', async () => {
    const clock = new SleepLog();
    const script = new Script(answer(429, '', { 'retry-after': '30' }), answer(503, ''), streamAnswer([]));
    const told: unknown[] = [];
    const client = clientOf(script, { clock, onRetry: (notice) => told.push(notice) });
    expect(await new Stream(client, () => 0, never).head(true)).toBe('0a1b2c3d-40');
    expect(clock.sleeps).toEqual([30_000, 1000]);
    expect(told).toMatchObject([
      { attempt: 1, attempts: 3, wait: 30_000, status: 429 },
      { attempt: 2, attempts: 3, wait: 1000, status: 503 },
    ]);
  });

  it('is not waited for as long as that where there never was one', async () => {
    const clock = new SleepLog();
    const busy = () => answer(503, '', { 'retry-after': '300' });
    const stream = new Stream(clientOf(new Script(busy(), busy(), busy()), { clock }), () => 0, never);
    expect(await stream.head()).toBeUndefined();
    expect(clock.sleeps).toEqual([500, 1000]);
  });

  it('is no longer waited for once the run is interrupted', async () => {
    const interrupted = new AbortController();
    const sleep = async (_: number, signal?: AbortSignal) => {
      interrupted.abort(new Error('Interrupted.'));
      signal?.throwIfAborted();
    };
    const client = clientOf(new Script(answer(503, '')), { clock: { now: () => 0, sleep } });
    await expect(new Stream(client, () => 0, interrupted.signal).head(true)).rejects.toThrow('Interrupted.');
  });

  describe('of a service that says nothing', () => {
    afterEach(() => void vi.useRealTimers());

    it('is none, also where there was one', async () => {
      vi.useFakeTimers();
      let asked = 0;
      const send = () => {
        asked++;
        return new Promise<never>(() => {});
      };
      const head = streamOf({ send }).head(true);
      await vi.advanceTimersByTimeAsync(40_000);
      expect([await head, asked]).toEqual([undefined, 3]);
    });
  });
});

describe('the changes between two positions', () => {
  /** What is kept, a batch each, and whether the stream had all of it. */
  async function replay(from: string, to: string, ...pieces: readonly (readonly string[])[]) {
    const batches: (readonly ReceivedChange[])[] = [];
    const store = { receive: async (changes: readonly ReceivedChange[]) => void batches.push(changes) };
    const script = new Script(...pieces.map((piece) => streamAnswer(piece)));
    const all = await streamOf(script).replay(from, to, store as unknown as MirrorStore, new Map([[PATIENTS, 0]]));
    return { all, batches, ids: batches.flat().map(({ id }) => Number(id)), left: script.left };
  }
  const at = (id: number) => `0a1b2c3d-${id}`;
  const events = (...ids: number[]) => ids.map((id) => eventOf(messageOf(id)));

  it('are those of the messages', async () => {
    expect(await replay(at(40), at(42), events(41, 42, 43))).toMatchObject({ all: true, ids: [7041, 7042] });
  });

  it('are heard once where another server behind the address is behind', async () => {
    const late = ': heartbeat 0a1b2c3d-40\n\n';
    const heard = replay(at(40), at(44), events(41, 42), [late, ...events(42)], [late], [late], events(43, 44));
    await expect(heard).rejects.toMatchObject({ code: 'network.unreachable' });
    expect(await replay(at(40), at(44), events(41, 42), [late, ...events(42)], [late], events(43, 44))).toMatchObject({
      ...{ all: true, ids: [7041, 7042, 7043, 7044], left: 0 },
    });
  });

  it('are asked for again at once after a connection that brought some, and otherwise as late as the service says', async () => {
    const clock = new SleepLog();
    const busy = () => answer(429, '', { 'retry-after': '30' });
    const script = new Script(streamAnswer(events(41)), busy(), answer(503, ''), streamAnswer(events(42)));
    const stream = new Stream(clientOf(script, { clock }), () => 0, never);
    const store = { receive: async () => {} } as unknown as MirrorStore;
    expect(await stream.replay(at(40), at(42), store, new Map([[PATIENTS, 0]]))).toBe(true);
    expect(clock.sleeps).toEqual([30_000, 1000]);
  });

  it.each([
    ['they are of different histories', 'ffff-40', at(42)],
    ['the first is behind the second', at(43), at(42)],
  ])('are not known where %s', async (_, from, to) => {
    expect(await replay(from, to)).toEqual({ all: false, batches: [], ids: [], left: 0 });
  });

  it('are not known where the history becomes another one', async () => {
    const other = eventOf(messageOf(41)).replace('id: 0a1b2c3d', 'id: ffff');
    expect(await replay(at(40), at(42), [other, ...events(42)])).toMatchObject({ all: false, ids: [] });
  });

  it('end with a heartbeat at the second one; one that tells no position ends nothing', async () => {
    const pieces = [': heartbeat\n\n', ...events(41), ': heartbeat\n\n', `: heartbeat ${at(45)}\n\n`, ...events(46)];
    expect(await replay(at(40), at(45), pieces)).toMatchObject({ all: true, ids: [7041] });
  });

  it('are kept in batches', async () => {
    const ids = Array.from({ length: 1001 }, (_, index) => 41 + index);
    const { batches, ids: found } = await replay(at(40), at(1041), events(...ids));
    expect(batches.map(({ length }) => length)).toEqual([500, 500, 1]);
    expect(found).toEqual(ids.map((id) => 7000 + id));
  });

  it('are those of messages that are written with blanks, too', async () => {
    const message = JSON.stringify(messageOf(41)).replaceAll('":', '" : ');
    const { batches } = await replay(at(40), at(41), [`id: ${at(41)}\ndata: ${message}\n\n`]);
    expect(batches.flat().map(({ payload }) => payload)).toEqual(['{"id":7041,"lastName":"Vega"}']);
  });

  it('are not asked for again where the stream is none', async () => {
    await expect(replay(at(40), at(42), ['data: nonsense\n\n'])).rejects.toMatchObject({ code: 'response.malformed' });
  });
});

it('every message is newer than nothing', () => {
  expect([isBehind(null, 'a-1'), isBehind('a-1', 'a-1'), isBehind('a-1', 'a-2'), isBehind('a-2', 'b-1')]).toEqual([
    ...[true, false, true, true],
  ]);
});

describe('a delivery', () => {
  const ten = Array.from({ length: 10 }, (_, index) => ({ id: index + 1 }));
  const named = { 'x-correlation-id': 'd-1' };
  const part = (id: number, more: Partial<StreamMessage> = {}) =>
    messageOf(id, { domainType: 'ImageAttachmentV1', operation: 'READ', correlationId: 'd-1', ...more });

  /** The texts of the records that arrive, on a clock that goes on by so much with each look. */
  async function deliver(pieces: readonly string[], headers: Readonly<Record<string, string>> = named, step = 0) {
    let time = 0;
    const script = new Script(streamAnswer(pieces), success(ten, {}, headers));
    const client = clientOf(script);
    const now = () => (time += step);
    const texts: string[] = [];
    for await (const records of delivered(IMAGES, { client, stream: streamOf(script), now, signal: never }))
      texts.push(...records.map(({ text }) => text));
    return texts;
  }

  it('brings its records, also those that are written with blanks', async () => {
    const spaced = `id: 0a1b2c3d-42\ndata: ${JSON.stringify(part(42)).replaceAll('":', '" : ')}\n\n`;
    const complete = eventOf(part(43, { operation: 'READ_COMPLETE', payload: { total: 2 } }));
    expect(await deliver([eventOf(part(41)), spaced, complete])).toEqual([
      '{"id":7041,"lastName":"Vega"}',
      '{"id":7042,"lastName":"Vega"}',
    ]);
  });

  it.each<[string, string[], Record<string, string>, number, string]>([
    ['that nothing names', [], {}, 0, 'The response does not name the delivery.'],
    [
      'of which messages are gone',
      [eventOf(part(41, { operation: 'resync', domainType: '*' }))],
      ...([named, 0, 'The server no longer has some messages.'] as const),
    ],
    ['that stops', [': heartbeat\n\n', ': heartbeat\n\n'], named, 50_000, 'Nothing arrives any more.'],
    ['that is cut off', [eventOf(part(41))], named, 0, 'The stream was cut off.'],
  ])('%s is not complete', async (_, pieces, headers, step, why) => {
    await expect(deliver(pieces, headers, step)).rejects.toMatchObject({
      ...{ code: 'stream.incomplete', exitCode: 8, message: `The delivery is not complete. ${why}` },
    });
  });

  describe('whose connection is lost', () => {
    const broken = (): IncomingResponse => ({
      ...streamAnswer([]),
      body: (async function* () {
        yield Buffer.from(eventOf(part(41)));
        throw new Error('The connection was reset.');
      })(),
    });
    const busy = () => answer(429, '', { 'retry-after': '30' });

    async function deliverOver(clock: SleepLog, ...steps: Step[]) {
      const client = clientOf(new Script(...steps), { clock });
      const ids: unknown[] = [];
      const stream = new Stream(client, () => 0, never);
      for await (const records of delivered(IMAGES, { client, stream, now: () => 0, signal: never }))
        ids.push(...records.map(({ id }) => id));
      return ids;
    }

    it('is delivered again, as late as the service says', async () => {
      const clock = new SleepLog();
      const complete = eventOf(part(42, { operation: 'READ_COMPLETE', payload: { total: 1 } }));
      const whole = streamAnswer([eventOf(part(41)), complete]);
      const ask = () => success(ten, {}, named);
      expect((await deliverOver(clock, broken(), ask(), busy(), whole, ask())).map(Number)).toEqual([7041]);
      expect(clock.sleeps).toEqual([500, 30_000]);
    });

    it('ends with what the connection ended with, when it is lost each time', async () => {
      const failed = deliverOver(new SleepLog(), busy(), busy(), busy());
      await expect(failed).rejects.toMatchObject({ name: 'ApiFailure', status: 429 });
    });
  });
});
