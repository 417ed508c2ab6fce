import { describe, expect, it } from 'vitest';
import { EVENTS, LINES } from '../../../src/server/stream/formats.ts';
import type { StoredMessage } from '../../../src/server/stream/outbox.ts';
import { SharedPages, StreamPage } from '../../../src/server/stream/pages.ts';

function message(id: number, characters = 10): StoredMessage {
  return { id, routingKey: `o.${id}.PatientV1.CREATE`, operation: 'CREATE', text: 'é'.repeat(characters) };
}

describe('the pieces of a page', () => {
  it.each([
    ['no message', []],
    ['one message', [message(1)]],
    ['messages below the size of a piece', [message(1), message(2), message(3)]],
    ['messages of several pieces', Array.from({ length: 100 }, (_, index) => message(index + 1, 1000))],
    ['messages larger than a piece', [message(1, 100_000), message(2), message(3, 100_000)]],
  ])('are all of %s, as they are written', (_name, messages) => {
    for (const format of [EVENTS, LINES]) {
      const pieces = new StreamPage(messages).pieces(format);
      expect(pieces.flatMap((piece) => piece.messages)).toEqual(messages);
      for (const { messages: some, ends, bytes } of pieces) {
        const texts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end).toString());
        expect(texts).toEqual(some.map((one) => format.message(one)));
        expect(ends.at(-1)).toBe(bytes.length);
      }
    }
  });

  it('are at most one message larger than 64 KiB', () => {
    const page = new StreamPage(Array.from({ length: 300 }, (_, index) => message(index + 1, 500)));
    const sizes = page.pieces(LINES).map(({ bytes }) => bytes.length);
    expect(sizes.length).toBeGreaterThan(3);
    expect(Math.max(...sizes)).toBeLessThan(65_536 + 1001);
  });

  it('are made once', () => {
    const page = new StreamPage([message(1)]);
    expect(page.pieces(EVENTS)).toBe(page.pieces(EVENTS));
    expect(page.pieces(LINES)).not.toBe(page.pieces(EVENTS));
  });
});

/** Shared pages of an outbox whose messages may be added to; `reads` are the places that were read. */
function outbox(...messages: StoredMessage[]) {
  const reads: number[] = [];
  const pages = new SharedPages(async (_, after) => {
    reads.push(after);
    return messages.filter(({ id }) => id > after);
  });
  const idsAfter = async (after: number) => (await pages.page(1, after)).messages.map(({ id }) => id);
  return { messages, reads, pages, idsAfter };
}

describe('shared pages', () => {
  it('are read once for all who stand at the same place', async () => {
    const { reads, pages } = outbox(message(1), message(2));
    const [first, second, other] = await Promise.all([pages.page(1, 0), pages.page(1, 0), pages.page(2, 0)]);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(reads).toEqual([0, 0]);
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
      return [message(1)];
    });
    await expect(pages.page(1, 0)).rejects.toThrow('away');
    failing = false;
    expect((await pages.page(1, 0)).messages).toEqual([message(1)]);
  });

  it('are few: those asked for last', async () => {
    const { reads, idsAfter } = outbox(message(100));
    for (let after = 0; after < 9; after++) await idsAfter(after);
    reads.length = 0;
    await idsAfter(8);
    await idsAfter(1);
    expect(reads).toEqual([]);
    await idsAfter(0);
    expect(reads).toEqual([0]);
  });
});
