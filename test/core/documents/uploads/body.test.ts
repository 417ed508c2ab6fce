import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Length, countedBody, documentBody, isSingleChunk } from '../../../../src/core/documents/uploads/body.ts';
import { usageFailure } from '../../../../src/core/failure.ts';
import { anyCharacter } from '../../../support/characters.ts';
import { memorySource } from '../samples.ts';

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function textOf(open: () => AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('the streamed body of a document', () => {
  it('is the JSON of the document with its base64, of exactly the length it says, each time it is opened', async () => {
    const sizes = fc.oneof(
      fc.constantFrom(1, 2, 3, 4, 5, 6, 299, 300, 301, 599, 600, 200_000),
      fc.integer({ min: 1, max: 200_000 }),
    );
    const fields = fc.record({ name: fc.string({ unit: anyCharacter }), tags: fc.array(fc.string()) });
    const crop = fc.constantFrom(undefined, {}, { fromX: 0, fromY: 1, width: 20, height: 30, ratio: 0.5 });
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fields,
        crop,
        fc.integer({ min: 1, max: 70_000 }),
        fc.integer(),
        async (size, rest, file, thirds, seed) => {
          const bytes = Buffer.from(
            Array.from({ length: size }, (_, index) => (Math.imul(index ^ seed, 2_654_435_761) >>> 13) & 255),
          );
          let reads = seed;
          const most = () => {
            reads = Math.imul(reads, 48_271) + 11;
            return reads >>> 15;
          };
          const content = { source: memorySource('a', bytes, most), sha256: hashOf(bytes) };
          let reported = 0;
          const document = file === undefined ? rest : { ...rest, file };
          const body = documentBody(document, content, { chunk: thirds * 3, onBytes: (part) => (reported += part) });
          const expected = JSON.stringify({ ...rest, file: { ...file, content: bytes.toString('base64') } });
          const first = await textOf(body.open);
          // Compared by hand: a difference in 200,000 characters is no use in a message.
          expect(first === expected && (await textOf(body.open)) === expected).toBe(true);
          expect([body.length, reported]).toEqual([Buffer.byteLength(expected), size * 2]);
        },
      ),
      { numRuns: 25 },
    );
  });

  const whole = Buffer.from('the content that was checked');
  it.each([
    ['shorter', whole.subarray(0, 20), whole.length],
    ['longer', Buffer.concat([whole, Buffer.from('!')]), whole.length],
    ['other', Buffer.from(whole.toString().replace('checked', 'CHECKED')), whole.length],
  ])('never ends whole when the file is %s than it was', async (_, now, size) => {
    const body = documentBody(
      { name: 'a' },
      { source: { ...memorySource('a.pdf', now), size }, sha256: hashOf(whole) },
    );
    let text = '';
    const reading = (async () => {
      for await (const chunk of body.open()) text += Buffer.from(chunk).toString();
    })();
    await expect(reading).rejects.toMatchObject({ message: 'a.pdf changed while it was being read.', exitCode: 9 });
    expect(() => JSON.parse(text)).toThrow();
    expect(text.length).toBeLessThan(body.length);
  });

  it('holds no more than a chunk of a large file', async () => {
    const size = 30 * 1024 * 1024;
    let opened = 0;
    const read = async (buffer: Uint8Array, position: number) =>
      buffer.fill(0).subarray(0, Math.max(0, size - position)).length;
    const close = async () => {
      opened--;
    };
    const open = async () => {
      opened++;
      return { read, close };
    };
    const source = { label: 'a', size, open };
    let largest = 0;
    let total = 0;
    const body = documentBody({}, { source, sha256: createHash('sha256').update(Buffer.alloc(size)).digest('hex') });
    for await (const chunk of body.open()) {
      largest = Math.max(largest, chunk.length);
      total += chunk.length;
    }
    expect({ total, opened }).toEqual({ total: body.length, opened: 0 });
    expect(largest).toBeLessThanOrEqual(384 * 1024);
  });

  describe('and its reader', () => {
    /** Content of three bytes; `events`: how it was opened, and closed. */
    function watched(size: number, read: () => Promise<number> = async () => 0, reopen = true) {
      const events: string[] = [];
      const reader = (how: string) => {
        events.push(how);
        return { read, close: async () => void events.push('close') };
      };
      const source = {
        ...{ label: 'a.pdf', size, open: async () => reader('open') },
        ...(reopen && { reopen: () => reader('reopen') }),
      };
      return { source, events };
    }
    const LARGEST_CHUNK = 255 * 1024 - 3;

    it.each<[string, number, boolean, string]>([
      ['of a small file', 3, true, 'reopen'],
      ['of the largest that goes out in one chunk', LARGEST_CHUNK, true, 'reopen'],
      ['of a larger one', LARGEST_CHUNK + 1, true, 'open'],
      ['of what cannot be opened again', 3, false, 'open'],
    ])('%s is closed when it fails', async (_name, size, reopen, how) => {
      const { source, events } = watched(size, undefined, reopen);
      expect(isSingleChunk(source)).toBe(size <= LARGEST_CHUNK);
      await expect(textOf(documentBody({}, { source, sha256: '' }).open)).rejects.toMatchObject({ exitCode: 9 });
      expect(events).toEqual([how, 'close']);
    });

    it('is closed when nobody reads on', async () => {
      const { source, events } = watched(6, async () => 3);
      for await (const _ of documentBody({}, { source, sha256: '' }, { chunk: 3 }).open()) break;
      expect(events).toEqual(['reopen', 'close']);
    });

    it('fails with exit code 9 where the file cannot be read, and as the source does', async () => {
      const gone = () => Promise.reject(Object.assign(new Error('gone'), { code: 'EIO' }));
      const body = documentBody({}, { source: watched(3, gone).source, sha256: '' });
      await expect(textOf(body.open)).rejects.toMatchObject({
        exitCode: 9,
        message: 'Cannot read a.pdf: disk input/output error.',
      });
      const failure = usageFailure('It is not the file of before.');
      const { source } = watched(3, () => Promise.reject(failure));
      await expect(textOf(documentBody({}, { source, sha256: '' }).open)).rejects.toBe(failure);
    });
  });

  it('reports only what went out', async () => {
    const bytes = Buffer.from('sevenby');
    const reported: number[] = [];
    const options = { chunk: 3, onBytes: (size: number) => void reported.push(size) };
    const body = documentBody({}, { source: memorySource('a', bytes), sha256: hashOf(bytes) }, options);
    for await (const _ of body.open()) if (reported.length === 1) break;
    expect(reported).toEqual([3]);
    await textOf(body.open);
    expect(reported).toEqual([3, 3, 3, 1]);
  });
});

describe('the body of one upload', () => {
  const bytes = Buffer.from('one');
  const content = { source: memorySource('a', bytes), sha256: hashOf(bytes) };

  it('counts the bytes of its last attempt, and takes back those of the one before', async () => {
    const reported: [number, string][] = [];
    const body = countedBody({ name: 'a' }, content, (size, { label }) => void reported.push([size, label]));
    expect([body.sent, body.length]).toEqual([0, documentBody({ name: 'a' }, content).length]);
    const first = await textOf(body.open);
    expect(body.sent).toBe(3);
    expect(await textOf(body.open)).toBe(first);
    expect(body.sent).toBe(3);
    expect(reported.filter(([size]) => size !== 0)).toEqual([
      [3, 'a'],
      [-3, 'a'],
      [3, 'a'],
    ]);
  });

  it('counts where nobody asks', async () => {
    const body = countedBody({}, content);
    await textOf(body.open);
    expect(body.sent).toBe(3);
  });
});

describe('the length of base64', () => {
  it.each([
    [0, 0],
    [1, 4],
    [3, 4],
    [4, 8],
    [6, 8],
  ])('of %i bytes is %i', (size, length) => {
    expect(base64Length(size)).toBe(length);
    expect(Buffer.alloc(size).toString('base64')).toHaveLength(length);
  });
});
