import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { StoredMessage } from '../../../src/server/stream/outbox.ts';
import {
  EVENTS,
  type Frame,
  framesOf,
  LINES,
  SharedPages,
  type StreamFormat,
} from '../../../src/server/stream/pages.ts';

afterEach(() => {
  vi.useRealTimers();
});

function message(id: number, characters = 10): StoredMessage {
  const routingKey = `o.${id}.PatientV1.CREATE`;
  const text = 'é'.repeat(characters);
  return { number: id, routingKey, operation: 'CREATE', text, recordId: id, patientId: id % 3 === 0 ? null : id * 10 };
}

const read = (piece: Frame) => piece.bytes.toString();
const EPOCH = '0a1b2c3d';
const positions = { epoch: EPOCH, newest: 1000, floor: 0 };
const written = (format: StreamFormat) => (one: StoredMessage) => format.message(one, `${EPOCH}-${one.number}`);

describe('the pieces of a page', () => {
  it.each([
    ['no message', []],
    ['one message', [message(1)]],
    ['messages below the size of a piece', [message(1), message(2), message(3)]],
    ['messages of several pieces', Array.from({ length: 100 }, (_, index) => message(index + 1, 1000))],
    ['messages larger than a piece', [message(1, 100_000), message(2), message(3, 100_000)]],
  ])('are all of %s, as they are written', (_name, messages) => {
    for (const format of [EVENTS, LINES]) {
      const pieces = framesOf(messages, format, EPOCH);
      expect(pieces.map(read).join('')).toBe(messages.map(written(format)).join(''));
      const known = pieces.map(({ last }) => last);
      expect(known).toEqual(known.toSorted((a, b) => a - b));
      expect(known.at(-1)).toBe(messages.at(-1)?.number);
    }
  });

  it('are at most one message larger than 65,536 characters', () => {
    const messages = Array.from({ length: 300 }, (_, index) => message(index + 1, 500));
    const sizes = framesOf(messages, LINES, EPOCH).map((piece) => read(piece).length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThan(65_536 + 501);
  });
});

describe('what matches of a piece', () => {
  const formats = fc.constantFrom(EVENTS, LINES);

  it('is the messages that match, as they are written, of one piece or several', () => {
    const sized = fc.tuple(fc.json(), fc.constantFrom(0, 0, 30_000)).map(([text, more]) => text + ' '.repeat(more));
    const texts = fc.array(sized, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(texts, formats, fc.integer({ min: 0, max: 15 }), (payloads, format, wanted) => {
        const messages = payloads.map((text, id) => ({ ...message(id + 1), routingKey: `k${id % 4}`, text }));
        const matches = (routingKey: string) => (wanted & (1 << Number(routingKey.slice(1)))) !== 0;
        const some = messages.filter(({ routingKey }) => matches(routingKey));
        const found = framesOf(messages, format, EPOCH).map((piece) => piece.matching(matches));
        expect(found.map(({ bytes }) => bytes.toString()).join('')).toBe(some.map(written(format)).join(''));
        expect(found.reduce((sum, { messages: count }) => sum + count, 0)).toBe(some.length);
        expect(found.flatMap(({ records }) => records)).toEqual(some.map(({ recordId }) => recordId));
        expect(found.flatMap(({ patients }) => patients)).toEqual(
          some.map(({ patientId }) => patientId).filter((id) => id !== null),
        );
      }),
    );
  });

  it('is nothing of what is hidden, whose number counts alone', () => {
    const hidden = { ...message(2), routingKey: '', text: '', hidden: true as const };
    const pieces = framesOf([message(1), hidden], EVENTS, EPOCH);
    expect(pieces.map(({ last }) => last)).toEqual([2]);
    const told = pieces[0]?.matching(() => true);
    expect([told?.bytes.toString(), told?.messages, told?.records]).toEqual([written(EVENTS)(message(1)), 1, [1]]);
    expect(pieces[0]?.matching(() => false)).toMatchObject({ messages: 0, records: [], patients: [] });
  });

  it('is its own bytes when all of them do', () => {
    const [piece] = framesOf([message(1), message(2)], EVENTS, EPOCH);
    expect(piece?.matching(() => true).bytes).toBe(piece?.bytes);
  });
});

/** Shared pages of an outbox whose messages may be added to; `reads` are the places that were read. */
function outbox(...messages: StoredMessage[]) {
  const reads: number[] = [];
  const pages = new SharedPages(async (_, after) => {
    reads.push(after);
    return { messages: messages.filter(({ number }) => number > after), positions };
  });
  const idsAfter = async (after: number) =>
    (await pages.page({ org: 1 }, EPOCH, after, EVENTS)).frames.flatMap((piece) =>
      Array.from(read(piece).matchAll(/^id: 0a1b2c3d-(\d+)$/gm), ([, id]) => Number(id)),
    );
  return { messages, reads, pages, idsAfter };
}

describe('shared pages', () => {
  it('are read once for all who stand at the same place and take the same format', async () => {
    const { reads, pages } = outbox(message(1), message(2));
    const [first, second, other, lines, epoch, ...bound] = await Promise.all([
      pages.page({ org: 1 }, EPOCH, 0, EVENTS),
      pages.page({ org: 1 }, EPOCH, 0, EVENTS),
      pages.page({ org: 2 }, EPOCH, 0, EVENTS),
      pages.page({ org: 1 }, EPOCH, 0, LINES),
      pages.page({ org: 1 }, 'ffffffff', 0, EVENTS),
      ...[[5], [6], [5]].map((locations) => pages.page({ org: 1, locations }, EPOCH, 0, EVENTS)),
    ]);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(lines?.frames.map(read)).toEqual([`${message(1).text}\n${message(2).text}\n`]);
    // Numbers of one history are nothing to those who read another.
    expect(epoch?.frames.map(read).join('')).toContain('id: ffffffff-1\n');
    // Nor is what one may see for others.
    expect(new Set([first, ...bound]).size).toBe(3);
    expect(reads).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('that had messages serve those who come later, too', async () => {
    const { messages, reads, pages, idsAfter } = outbox(message(1));
    expect(await idsAfter(0)).toEqual([1]);
    messages.push(message(2));
    pages.advance();
    expect(await idsAfter(0)).toEqual([1]);
    expect(await idsAfter(1)).toEqual([2]);
    expect(reads).toEqual([0, 1]);
  });

  it('that had none, or were being read, are read again when there is more', async () => {
    const { messages, pages, idsAfter } = outbox();
    expect(await idsAfter(0)).toEqual([]);
    const reading = idsAfter(5);
    messages.push(message(6));
    pages.advance();
    expect(await reading).toEqual([]);
    expect(await idsAfter(0)).toEqual([6]);
    expect(await idsAfter(5)).toEqual([6]);
  });

  it('that could not be read are read again', async () => {
    let failing = true;
    const pages = new SharedPages(async () => {
      if (failing) throw new Error('away');
      return { messages: [message(1)], positions };
    });
    await expect(pages.page({ org: 1 }, EPOCH, 0, EVENTS)).rejects.toThrow('away');
    failing = false;
    expect((await pages.page({ org: 1 }, EPOCH, 0, EVENTS)).frames.map(read)).toEqual([written(EVENTS)(message(1))]);
  });

  it('that could not be read take away nothing that was read since', async () => {
    let fail = () => {};
    let reads = 0;
    const pages = new SharedPages(async () => {
      if (reads++ === 0)
        await new Promise((_, reject) => {
          fail = () => reject(new Error('away'));
        });
      return { messages: [message(1)], positions };
    });
    const read = () => pages.page({ org: 1 }, EPOCH, 0, EVENTS);
    const failing = read();
    pages.advance();
    await read();
    fail();
    await expect(failing).rejects.toThrow('away');
    await read();
    expect(reads).toBe(2);
  });

  it('are at most 16 MiB: those asked for last', async () => {
    const { reads, idsAfter } = outbox(message(100, 1_100_000));
    // Each is of a little more than 2 MiB.
    for (let after = 0; after < 8; after++) await idsAfter(after);
    reads.length = 0;
    await idsAfter(7);
    await idsAfter(1);
    expect(reads).toEqual([]);
    await idsAfter(0);
    expect(reads).toEqual([0]);
    await idsAfter(1);
    await idsAfter(2);
    expect(reads).toEqual([0, 2]);
  });

  it('that are being read are shared however many others are read meanwhile', async () => {
    let go = () => {};
    let reads = 0;
    const pages = new SharedPages(async (_, after) => {
      if (after === 0) {
        reads++;
        await new Promise<void>((resolve) => {
          go = resolve;
        });
      }
      return { messages: [message(100, 1_100_000)], positions };
    });
    const page = (after: number) => pages.page({ org: 1 }, EPOCH, after, EVENTS);
    const first = page(0);
    for (let after = 1; after < 10; after++) await page(after);
    const second = page(0);
    go();
    expect([await second, reads]).toEqual([await first, 1]);
  });

  it('that were read in vain take no room from others', async () => {
    const { reads, pages, idsAfter } = outbox(message(100, 1_100_000));
    for (let vain = 0; vain < 9; vain++) {
      const reading = idsAfter(0);
      pages.advance();
      await reading;
    }
    reads.length = 0;
    for (const after of [1, 2, 3, 1, 2, 3]) await idsAfter(after);
    expect(reads).toEqual([1, 2, 3]);
  });

  it('are let go of when nobody has asked for them for a second', async () => {
    vi.useFakeTimers();
    const { reads, idsAfter } = outbox(message(9));
    await idsAfter(0);
    vi.advanceTimersByTime(900);
    await idsAfter(1);
    await idsAfter(0);
    vi.advanceTimersByTime(900);
    await idsAfter(1);
    expect(reads).toEqual([0, 1]);
    // Somebody looks after those that are left, and nobody once there are none.
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2000);
    expect(vi.getTimerCount()).toBe(0);
    await idsAfter(0);
    await idsAfter(1);
    expect(reads).toEqual([0, 1, 0, 1]);
    // What is left by the first look is found by the next, though nobody asks for anything.
    vi.advanceTimersByTime(900);
    await idsAfter(1);
    vi.advanceTimersByTime(1101);
    await idsAfter(1);
    expect(reads).toEqual([0, 1, 0, 1, 1]);
  });
});
