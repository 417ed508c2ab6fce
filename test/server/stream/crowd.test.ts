import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../../../src/server/memory.ts';
import { bareRecords } from '../../support/practice.ts';
import { patientFixture } from '../../support/resources/patients.ts';
import { type TestService, testService } from '../../support/service.ts';
import { address, listen, open } from './listening.ts';
import { allMessages, ownMessages, ownPositions } from './told.ts';
import { writeOwnMessages } from './writing.ts';

const LIVE = 90;
const STALLED = 10;
/** Fills what the process keeps whoever listens. */
const FIRST = 1000;
const CHANGES = 3000;
const MEGABYTE = 1024 * 1024;
/** Longer than a busy machine keeps this process waiting: then none of the others stalls. */
const STALL_MS = 15_000;

let service: TestService;
let url: string;
beforeEach(async () => {
  service = await testService(bareRecords(), { listeners: { stallMs: STALL_MS } });
  url = await address(service);
});
afterEach(() => service.close());

async function postPatients(count: number, from: number): Promise<void> {
  for (let n = from; n < from + count; n += 20) {
    const bodies = Array.from({ length: 20 }, (_, k) => ({ ...patientFixture.create?.(n + k) }));
    for (const { status, text } of await Promise.all(
      bodies.map((body) => service.call('POST', '/patients', { body })),
    )) {
      if (status !== 201) throw new Error(text);
    }
  }
}

/** Messages of 20 MB in all: more than the buffers between a server and a reader that has stopped. */
async function largeMessages(): Promise<void> {
  const page = await allMessages(service);
  expect(page).not.toEqual([]);
  await writeOwnMessages(service, 200, JSON.stringify({ note: 'x'.repeat(100_000) }));
}

/** A listener that keeps nothing but how far it came: its memory is not what is measured. */
async function counting() {
  const request = open(url, { headers: { accept: 'application/x-ndjson' } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const seen = { first: 0, last: 0, count: 0, ordered: true, close: () => request.destroy() };
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') continue;
      const id = Number(/^\{"id":(\d+),/.exec(line)?.[1]);
      seen.first ||= id;
      seen.ordered &&= id > seen.last;
      seen.last = id;
      seen.count++;
    }
  });
  return seen;
}

/** The messages of the patients that were created, by number; the messages themselves are not kept in memory. */
async function newestPatients(): Promise<number[]> {
  return (await ownMessages(service))
    .filter(({ domainType, operation }) => `${domainType}.${operation}` === 'PatientV1.CREATE')
    .map(({ id }) => id)
    .slice(-CHANGES);
}

/** What is held in memory: some of what is done with lets go only in a turn after a collection. */
async function heldMegabytes(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await turn();
  }
  const { arrayBuffers, external, heapUsed } = process.memoryUsage();
  return (heapUsed + external + arrayBuffers) / MEGABYTE;
}

describe('a hundred listeners, ten of which take nothing', () => {
  it('all others hear everything in order, memory stays as it was, and the ten are closed', async () => {
    const { newest: start } = await ownPositions(service);
    await largeMessages();
    const stalled = Array.from({ length: STALLED }, () => open(url, { query: `?lastEventId=${start}` }));
    await Promise.all(stalled.map((request) => once(request, 'response')));
    const live = await Promise.all(Array.from({ length: LIVE }, counting));

    await postPatients(FIRST, 0);
    const before = await heldMegabytes();
    // These add half a megabyte at most.
    await postPatients(CHANGES - FIRST, FIRST);
    const ids = await newestPatients();
    await expect.poll(() => live.every(({ last }) => last === ids.at(-1)), { timeout: 600_000 }).toBe(true);
    // What the ten have not taken is far more than that: it stands in the store and not in memory.
    expect((await heldMegabytes()) - before).toBeLessThan(4);
    for (const { first, count, ordered } of live) {
      expect({ first, count, ordered }).toEqual({ first: ids[0], count: CHANGES, ordered: true });
    }
    // The server itself ends those that have taken nothing for long.
    await expect.poll(() => service.service.stream.listeners, { timeout: 600_000 }).toBe(LIVE);
    for (const request of stalled) request.destroy();
    for (const { close } of live) close();
  });
});

describe('a listener that is killed and resumed twenty times', () => {
  it('misses nothing and hears nothing twice', async () => {
    const { newest: start } = await ownPositions(service);
    let writing = true;
    const writer = (async () => {
      for (let written = 0; writing; written += 20) await postPatients(20, written);
    })();
    const seen: number[] = [];
    for (let round = 0; round < 20; round++) {
      const listener = await listen(url, { query: `?lastEventId=${seen.at(-1) ?? start}` });
      await listener.heard(Math.floor(Math.random() * 12));
      listener.close();
      seen.push(...listener.events.map(({ message }) => message.id));
    }
    writing = false;
    await writer;
    const wanted = (await ownMessages(service)).map(({ id }) => id).filter((id) => id > start);
    const last = await listen(url, { query: `?lastEventId=${seen.at(-1) ?? start}` });
    seen.push(...(await last.heard(wanted.length - seen.length)).map(({ message }) => message.id));
    last.close();
    expect(seen).toEqual(wanted);
  });
});
