import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamMessage } from '../../../src/catalog/stream/messages.ts';
import { type CollectOptions, collect, collectedRows } from '../../../src/core/stream/collect.ts';
import { follow } from '../../../src/core/stream/follow.ts';
import { HttpSource } from '../../../src/core/stream/httpsource.ts';
import { RecordSpool } from '../../../src/core/stream/recordspool.ts';
import type { StreamItem } from '../../../src/core/stream/source.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { broken, clientOf, Script, SleepLog } from '../transport/script.ts';
import { eventOf, itemsOf, messageOf, readItem, streamAnswer } from './messages.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const opened: StreamItem = { kind: 'opened', position: '40' };
const seen: StreamItem = { kind: 'seen', position: '41' };
const placeless: StreamItem = { kind: 'opened', position: undefined };
let next = 41;

function read(record: number | undefined, correlationId = 'c-1'): StreamMessage {
  const payload = record === undefined ? { scheduledAmount: 5 } : { id: record };
  return messageOf(next++, { operation: 'READ', correlationId, payload });
}

function complete(total: unknown, correlationId = 'c-1'): StreamMessage {
  return messageOf(next++, { operation: 'READ_COMPLETE', correlationId, locationId: '*', payload: { total } });
}

const TIMEOUT = { timeout: 1000 };

/** Collects from items and gives the rows in the order they are written, or the failure. */
async function run(
  items: AsyncIterable<StreamItem>,
  now: () => number = () => 0,
  more: Partial<CollectOptions> = TIMEOUT,
) {
  const spool = await RecordSpool.open(folder);
  let asked = 0;
  const request = async () => `c-${++asked}`;
  try {
    const order = await collect({ items, request, spool, now, ...more });
    const rows: unknown[] = [];
    for await (const page of collectedRows(spool, order)) rows.push(...page.rows);
    return { rows, asked };
  } catch (failure) {
    return { failure, asked };
  } finally {
    await spool.close();
  }
}

const given = (...messages: StreamMessage[]) => run(itemsOf(opened, ...messages.map((message) => readItem(message))));
const rowsOf = (...records: number[]) => records.map((id) => ({ id }));

describe('collect', () => {
  it('gives the records of a delivery in ascending order, whichever way they came', async () => {
    expect(await given(read(1), read(5), read(9), complete(3))).toEqual({ rows: rowsOf(1, 5, 9), asked: 1 });
    expect(await given(read(9), read(5), read(1), complete(3))).toEqual({ rows: rowsOf(1, 5, 9), asked: 1 });
    expect(await given(read(9), complete(1))).toMatchObject({ rows: rowsOf(9) });
    expect(await given(complete(0))).toMatchObject({ rows: [] });
  });

  it('gives records without ids as they came', async () => {
    const items = [{ a: 2 }, { a: 1 }].map((payload) => ({ ...read(undefined), payload }));
    expect(await given(...items, complete(2))).toMatchObject({ rows: [{ a: 2 }, { a: 1 }] });
  });

  it('takes nothing of other deliveries, nor changes', async () => {
    const change = messageOf(next++, { correlationId: 'c-1' });
    const messages = [read(7, 'c-9'), complete(1, 'c-9'), change, read(1), messageOf(next++), complete(1)];
    expect(await given(...messages)).toMatchObject({ rows: rowsOf(1) });
  });

  it.each([
    ['an end before its own', () => [read(1)], 'cut off'],
    ['too few', () => [read(1), complete(2)], '2 delivered records, but 1 arrived'],
    ['too many', () => [read(1), read(2), complete(1)], '1 delivered records, but 2 arrived'],
    ['no total', () => [read(1), complete(undefined)], 'undefined delivered records'],
    ['a record twice', () => [read(1), read(1), complete(2)], 'record 1 after 1, out of order'],
    ['to and fro', () => [read(1), read(3), read(2), complete(3)], 'record 2 after 3, out of order'],
    ['fro and to', () => [read(3), read(1), read(2), complete(3)], 'record 2 after 1, out of order'],
    [
      'gone messages of its beginning',
      () => [messageOf(90, { operation: 'resync' }), complete(0)],
      'no longer has some',
    ],
    ['gone messages', () => [read(1), messageOf(90, { operation: 'resync' })], 'no longer has some messages'],
  ])('fails on %s', async (_name, messages, text) => {
    const { failure } = await given(...messages());
    expect(failure).toMatchObject({ code: 'stream.incomplete', exitCode: 8, message: expect.stringContaining(text) });
    expect(failure).toMatchObject({ message: expect.stringContaining('c-1') });
  });

  it('asks once, however often it connects', async () => {
    const items = itemsOf(opened, readItem(read(1)), opened, readItem(complete(1)));
    expect(await run(items)).toEqual({ rows: rowsOf(1), asked: 1 });
  });

  it.each<[string, readonly StreamItem[], boolean]>([
    ['nothing', [placeless], false],
    ['a heartbeat that tells none', [placeless, { kind: 'seen', position: undefined }], false],
    ['a heartbeat that tells it', [placeless, seen], true],
    ['any message', [placeless, readItem(messageOf(41))], true],
    ['a connection that told it', [opened], true],
  ])('goes on over a connection without a position where it has had %s: %#', async (_name, before, goesOn) => {
    const items = itemsOf(...before, placeless, readItem(complete(0)));
    const expected = goesOn ? { rows: [] } : { failure: { code: 'stream.incomplete' } };
    expect(await run(items)).toMatchObject(expected);
  });

  it('waits five minutes for a record, and tells how many have come', async () => {
    const counts: number[] = [];
    const times = [0, 0, 300_000, 300_000, 300_000, 600_001];
    const items = itemsOf(opened, readItem(read(1)), readItem(read(2)), seen);
    const onRecords = (count: number) => void counts.push(count);
    const { failure } = await run(items, () => times.shift() ?? 600_001, { onRecords });
    expect(failure).toMatchObject({ code: 'run.overtime', message: expect.stringMatching('300 s, after 2 records') });
    expect(counts).toEqual([1, 2]);
  });

  it('gives up when nothing of the delivery comes any more', async () => {
    let time = 0;
    const now = () => {
      time += 400;
      return time;
    };
    const alive = Array.from({ length: 9 }, () => seen);
    expect(await run(itemsOf(opened, ...alive), now)).toMatchObject({ failure: { code: 'run.overtime', exitCode: 7 } });
  });

  it('waits as long for each record, and after each connection', async () => {
    let time = 0;
    const items = async function* () {
      const given = [opened, seen, readItem(read(1)), readItem(read(2)), opened, opened, seen, readItem(complete(2))];
      for (const item of given) {
        time += 1000;
        yield item;
      }
    };
    expect(await run(items(), () => time)).toMatchObject({ rows: rowsOf(1, 2) });
  });
});

describe('collecting over a connection that breaks', () => {
  it('goes on behind the last message, and takes what comes twice once', async () => {
    const messages = [read(9), read(8), read(7), complete(3)];
    const events = messages.map(eventOf);
    const script = new Script(
      streamAnswer(events.slice(0, 2)),
      broken(true),
      streamAnswer([events[1] ?? '', events[2] ?? '', events[2] ?? '', events[3] ?? '']),
    );
    const clock = new SleepLog();
    const signal = new AbortController().signal;
    const source = new HttpSource(clientOf(script), { keys: ['#'], after: undefined, now: clock.now });
    const items = follow(source, { clock, random: () => 1, policy: DEFAULT_RETRY, maxRetries: 5, signal });
    expect(await run(items)).toEqual({ rows: rowsOf(7, 8, 9), asked: 1 });
    expect(script.requests.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      `0a1b2c3d-${messages[1]?.id}`,
      `0a1b2c3d-${messages[1]?.id}`,
    ]);
  });
});
