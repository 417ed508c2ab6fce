import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Stream } from '../../../src/server/stream/stream.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { address, listen, open } from './listening.ts';
import { until } from './relay/fakebroker.ts';
import { ownMessages, ownOrg, ownPositions } from './told.ts';
import { writeOwnMessages } from './writing.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
let folder: string;
let service: TestService;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-retention-'));
  service = await testService(bareRecords(), { data: folder, streamRetentionDays: 2 });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

let tags = 0;
async function postTags(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = { tagText: `tag ${++tags}`, isPredefined: false, tagType: 'PAYMENT_TAG' };
    const { status, text } = await service.call('POST', '/transactiontags', { body });
    if (status !== 201) throw new Error(text);
  }
}

const numbers = async () => (await ownMessages(service)).map(({ id }) => id);

/** What a listener hears first, resync messages by their payload. */
async function firstHeard(lastEventId: number, count: number): Promise<unknown[]> {
  const listener = await listen(await service.app.listeningOrigin, { query: `?lastEventId=${lastEventId}` });
  const events = await listener.heard(count);
  listener.close();
  return events.slice(0, count).map(({ event, message }) => (event === 'resync' ? message.payload : message.id));
}

describe('messages older than the retention', () => {
  it('go, and those that are younger stay', async () => {
    const old = await numbers();
    service.clock.advance(DAY);
    await postTags(3);
    await service.service.stream.tidy();
    expect(await numbers()).toHaveLength(old.length + 3);
    service.clock.advance(DAY + 1);
    await service.service.stream.tidy();
    const last = old.at(-1) ?? 0;
    expect(await numbers()).toEqual([last + 1, last + 2, last + 3]);
    expect((await ownPositions(service)).floor).toBe(last);
  });

  it('go however many there are, to the millisecond, and stay when tidying is broken off', async () => {
    const old = await numbers();
    await writeOwnMessages(service, 2100);
    const { store, stream } = service.service;
    service.clock.advance(1);
    await postTags(1);
    service.clock.advance(2 * DAY - 1);
    await stream.tidy();
    expect((await ownPositions(service)).floor).toBe(0);
    service.clock.advance(1);
    await stream.tidy(AbortSignal.abort());
    expect((await ownPositions(service)).floor).toBe(0);
    const write = store.write.bind(store);
    const floors = new Set<number>();
    const org = await ownOrg(service);
    const writing = vi.spyOn(store, 'write').mockImplementation(async (...given) => {
      const written = await write(...given);
      const { newest, floor } = await stream.positionsOf(org);
      const left = await store.read.all(sql`SELECT seq FROM stream_messages WHERE org = ${org}`);
      // No commit shows a gap of which the floor does not tell.
      expect(left).toHaveLength(newest - floor);
      floors.add(floor);
      return written;
    });
    await stream.tidy();
    writing.mockRestore();
    const floor = old.length + 2100;
    expect([...floors].filter((each) => each > 0)).toEqual([1000, 2000, floor]);
    expect([await numbers(), (await ownPositions(service)).floor]).toEqual([[floor + 1], floor]);
  });

  it('go when a server begins and every hour, until it is closed', async () => {
    const { store } = service.service;
    let go: (() => void) | undefined;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const stream = await Stream.open(store, service.clock.now, 2);
      const { newest } = await ownPositions(service);
      const floor = async () => (await ownPositions(service)).floor;
      service.clock.advance(3 * DAY);
      stream.keepTidy();
      await until(async () => (await floor()) === newest);
      await postTags(1);
      service.clock.advance(3 * DAY);
      await vi.advanceTimersByTimeAsync(HOUR - 1);
      expect(await floor()).toBe(newest);
      const all = store.read.all.bind(store.read);
      vi.spyOn(store.read, 'all').mockImplementation(async (query) => {
        if (query.sql.includes('m.sent_at'))
          await new Promise<void>((resolve) => {
            go = resolve;
          });
        return all(query);
      });
      await vi.advanceTimersByTimeAsync(1);
      await until(() => go !== undefined);
      // What is under way when it is closed ends before that does, since the store is closed next.
      let isClosed = false;
      const closed = stream.close().then(() => {
        isClosed = true;
      });
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect([isClosed, vi.getTimerCount()]).toEqual([false, 0]);
      go?.();
      await closed;
      expect(await floor()).toBe(newest);
    } finally {
      go?.();
      vi.useRealTimers();
    }
  });

  it('are missed by one explicit message, whoever comes too late; nobody else hears it', async () => {
    const last = (await numbers()).at(-1) ?? 0;
    service.clock.advance(3 * DAY);
    await postTags(2);
    await service.service.stream.tidy();
    await address(service);
    const resync = (requested: number) => ({ requested, resumedAfter: last });
    expect(await firstHeard(1, 3)).toEqual([resync(1), last + 1, last + 2]);
    expect(await firstHeard(last - 1, 3)).toEqual([resync(last - 1), last + 1, last + 2]);
    expect(await firstHeard(last, 2)).toEqual([last + 1, last + 2]);
    expect(await firstHeard(0, 2)).toEqual([last + 1, last + 2]);
  });

  it('that go while they are read are known to be gone', async () => {
    const last = (await numbers()).at(-1) ?? 0;
    const { store, stream } = service.service;
    service.clock.advance(3 * DAY);
    const all = store.read.all.bind(store.read);
    const org = await ownOrg(service);
    vi.spyOn(store.read, 'all').mockImplementationOnce(async (query) => {
      await stream.tidy();
      return all(query);
    });
    const { messages, positions } = await stream.readMessages({ org }, 1, 10);
    expect([messages, positions.floor]).toEqual([[], last]);
  });

  it('keep their numbers: none is given again, and a restart knows what is gone', async () => {
    const last = (await numbers()).at(-1) ?? 0;
    service.clock.advance(3 * DAY);
    await service.service.stream.tidy();
    expect(await numbers()).toEqual([]);
    expect((await ownPositions(service)).newest).toBe(last);
    await service.close();
    service = await testService([], { data: folder, clock: service.clock, streamRetentionDays: 2 });
    await address(service);
    expect(await firstHeard(1, 1)).toEqual([{ requested: 1, resumedAfter: last }]);
    await postTags(1);
    expect(await numbers()).toEqual([last + 1]);
  });

  it('are missed by a listener that was connected but too slow, who hears so', async () => {
    // More than the buffers between the two take.
    const payload = JSON.stringify({ note: 'x'.repeat(200_000) });
    const { newest: start } = await ownPositions(service);
    await writeOwnMessages(service, 200, payload);
    const request = open(await address(service), {
      headers: { accept: 'application/x-ndjson' },
      query: `?lastEventId=${start}`,
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    service.clock.advance(3 * DAY);
    await service.service.stream.tidy();
    const { floor } = await ownPositions(service);
    expect(floor).toBe(start + 200);
    await postTags(1);
    const ids: number[] = [];
    let resync: unknown;
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) {
        const message = JSON.parse(line) as { id: number; operation: string; payload: { requested: number } };
        if (message.operation === 'resync') resync = message.payload;
        else ids.push(message.id);
      }
      if (ids.at(-1) === floor + 1) break;
    }
    request.destroy();
    const before = ids.slice(0, -1);
    expect(before).toEqual(before.map((_, index) => start + 1 + index));
    expect(before.length).toBeLessThan(200);
    expect(resync).toEqual({ requested: before.at(-1), resumedAfter: floor });
  });
});
