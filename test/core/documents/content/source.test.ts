import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BUFFER_BYTES,
  fileSource,
  readFully,
  sha256Of,
  whileOpen,
} from '../../../../src/core/documents/content/source.ts';
import { documentBody } from '../../../../src/core/documents/uploads/body.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-source-'));
  path = join(folder, 'scan.pdf');
});
afterEach(() => rm(folder, { recursive: true }));

const bytesOf = (size: number) => Buffer.from(Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 255));
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const CHANGED = 'scan.pdf changed while it was being read.';

describe.each([
  ['nearly as large as the memory it is read into', BUFFER_BYTES - 1],
  ['as large as that memory', BUFFER_BYTES],
  ['larger by a byte', BUFFER_BYTES + 1],
  ['twice as large', 2 * BUFFER_BYTES],
])('a file %s', (_what, size) => {
  it('is hashed and sent as it is', async () => {
    const bytes = bytesOf(size);
    await writeFile(path, bytes);
    const source = await fileSource(path, 'scan.pdf');
    const sha256 = await whileOpen(source, async (opened) => {
      const reader = await opened.open();
      expect(await readFully(reader, size - 3, 9)).toEqual(bytes.subarray(-3));
      return sha256Of(opened);
    });
    expect([sha256, await sha256Of(source)]).toEqual([hashOf(bytes), hashOf(bytes)]);
    const chunks: Uint8Array[] = [];
    for await (const chunk of documentBody({ name: 'a' }, { source, sha256 }).open()) chunks.push(chunk);
    const content = Buffer.from(JSON.parse(Buffer.concat(chunks).toString()).file.content, 'base64');
    expect(content.equals(bytes)).toBe(true);
  });

  it.each([
    ['grown by a byte', 1],
    ['cut short by a byte', -1],
  ])('is neither hashed nor sent whole when it has %s', async (_change, more) => {
    await writeFile(path, bytesOf(size));
    const source = await fileSource(path, 'scan.pdf');
    const sha256 = await sha256Of(source);
    await writeFile(path, bytesOf(size + more));
    await expect(sha256Of(source)).rejects.toThrow(CHANGED);
    await expect(whileOpen(source, sha256Of)).rejects.toThrow(CHANGED);
    const body = documentBody({}, { source, sha256 });
    const sent: Uint8Array[] = [];
    const sending = (async () => {
      for await (const chunk of body.open()) sent.push(chunk);
    })();
    await expect(sending).rejects.toThrow(CHANGED);
    expect(Buffer.concat(sent).length).toBeLessThan(body.length);
  });
});

it('files that are read at the same time do not get each other’s bytes', async () => {
  const sizes = [10, BUFFER_BYTES - 1, 1000, BUFFER_BYTES + 5, 77, 200_000, 3, 100_000];
  const hashes = await Promise.all(
    sizes.map(async (size) => {
      const own = join(folder, `${size}.pdf`);
      await writeFile(own, bytesOf(size));
      return whileOpen(await fileSource(own), sha256Of);
    }),
  );
  expect(hashes).toEqual(sizes.map((size) => hashOf(bytesOf(size))));
});
