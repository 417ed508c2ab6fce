import { expect, it } from 'vitest';
import { documentBodyLimit, readDocumentBody } from '../../../src/server/body/documentbody.ts';
import type { Files } from '../../../src/server/files/files.ts';

const MEGABYTE = 1024 * 1024;

/** Digits of base64 in a line, and bytes in JSON of what ends it. */
const FORMS = {
  'one line': [Number.POSITIVE_INFINITY, 0],
  'lines of MIME (RFC 2045)': [76, '\\r\\n'.length],
  'lines of PEM (RFC 7468)': [64, '\\r\\n'.length],
} as const;

it.each(Object.entries(FORMS))('a document of the limit fits into a body, its base64 in %s', (_, [digits, end]) => {
  for (const limit of [1, 50, 1024].map((megabytes) => megabytes * MEGABYTE)) {
    const base64 = 4 * Math.ceil(limit / 3);
    const content = base64 + Math.ceil(base64 / digits) * end;
    // The rest of a body is its other fields.
    expect(documentBodyLimit(limit), `${limit} bytes`).toBeGreaterThan(content + MEGABYTE);
    // And what is far too large is refused before it has all arrived.
    expect(documentBodyLimit(limit)).toBeLessThan(1.5 * limit + 3 * MEGABYTE);
  }
});

it('a body without a length whose content is only blanks is refused at the limit', async () => {
  const limit = documentBodyLimit(MEGABYTE);
  let sent = 0;
  const endless = async function* () {
    yield Buffer.from('{"file":{"content":"');
    for (const blanks = Buffer.alloc(64 * 1024, '\\n'); sent < 10 * limit; sent += blanks.length) yield blanks;
  };
  // Blanks are no bytes of a file: none is begun.
  const reading = readDocumentBody(endless(), {} as Files, 'x', MEGABYTE);
  await expect(reading).rejects.toMatchObject({ status: 413, problems: [{ code: 'body.too_large', source: 'body' }] });
  expect(Math.abs(sent - limit)).toBeLessThan(MEGABYTE);
});

it.each<[string, readonly string[], boolean]>([
  ['is kept when it is complete', ['QUJD', '"}}'], true],
  ['turns out to be no base64 is discarded', ['QUJD', 'QUI*', 'QUJD"}}'], false],
  ['ends within a group of four digits is discarded', ['QUJD', 'Q"}}'], false],
  ['ends with the connection is discarded', ['QUJD'], false],
])('content of which a part is stored and that %s', async (_name, pieces, isKept) => {
  let discarded = 0;
  const stage = {
    write: async () => undefined,
    finish: async () => ({ name: 'x' }),
    discard: async () => void discarded++,
  };
  const body = async function* () {
    yield Buffer.from('{"file":{"content":"');
    for (const piece of pieces) yield Buffer.from(piece);
  };
  const files = { stage: async () => stage } as unknown as Files;
  const read = await readDocumentBody(body(), files, 'x', MEGABYTE).catch(() => undefined);
  expect([read?.content, discarded]).toEqual(isKept ? [{ name: 'x' }, 0] : [undefined, 1]);
});
