import { hash } from 'node:crypto';
import { once } from 'node:events';
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { attempt } from '../../../src/core/transport/attempt.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { answer, clientOf, Script, SleepLog } from './script.ts';

const REQUEST: OutgoingRequest = { method: 'GET', url: 'https://api.example.com/x', headers: {} };

type Encode = (plain: Uint8Array) => Uint8Array;
const { gzipSync, deflateSync, brotliCompressSync } = zlib;
const { zstdCompressSync } = zlib as unknown as {
  readonly zstdCompressSync?: (plain: Uint8Array, options: { readonly params: Record<number, number> }) => Uint8Array;
};
/** `ZSTD_c_checksumFlag`: without it damage shows only where it makes no JSON. */
const CHECKSUM = 201;

/** What one coding makes of bytes, by its name; Zstandard where this Node has it. */
const CODINGS: readonly (readonly [string, Encode])[] = [
  ['gzip', (plain) => gzipSync(plain)],
  ['deflate', (plain) => deflateSync(plain)],
  ['br', (plain) => brotliCompressSync(plain)],
  ...(zstdCompressSync === undefined
    ? []
    : ([['zstd', (plain: Uint8Array) => zstdCompressSync(plain, { params: { [CHECKSUM]: 1 } })]] as const)),
];

/** A text that is compressed to some twenty packets' worth of bytes, with characters of several bytes. */
const TEXT = Array.from({ length: 5000 }, (_, index) => `${(index * 7919) % 10_007} Zoë Ashbourne\n`).join('');

/** How cut and damaged data is told; the decoder of Zstandard takes a cut for the end, and the text is not whole then. */
const BROKEN = /^The response (?:was cut off or damaged \([\w-]+\)|is not an API envelope)\. \(HTTP 200\)$/;

/** What an attempt makes of a body in pieces, and how many bytes of it were asked for. */
async function received(encoding: string | undefined, pieces: Iterable<Uint8Array>, length?: number) {
  const read = { bytes: 0 };
  const body = async function* () {
    for (const piece of pieces) {
      read.bytes += piece.byteLength;
      yield piece;
    }
  };
  const headers = {
    ...(encoding !== undefined && { 'content-encoding': encoding }),
    ...(length !== undefined && { 'content-length': String(length) }),
  };
  const send: Send = async () => ({ status: 200, headers, body: body() });
  // Text that is not whole is no answer, as JSON that is not whole is none.
  const accept = (bytes: Uint8Array) => /[}\n]$/.exec(Buffer.from(bytes).toString())?.input;
  const result = await attempt({ send, clock: new SleepLog(), timeout: 10_000 }, REQUEST, accept);
  return { ...result, read };
}

function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

const lost = (permanent: boolean) => ({ kind: 'lost', sent: true, permanent });

describe.each(CODINGS)('an answer in %s', (name, encode) => {
  const encoded = encode(Buffer.from(TEXT));

  it.each([
    ['one piece', encoded.length],
    ['pieces of 1000 bytes', 1000],
    ['pieces of 7 bytes', 7],
  ])('is decoded from %s', async (_, size) => {
    const { value, end } = await received(name, inPieces(encoded, size), encoded.length);
    expect(end).toEqual({ kind: 'completed', status: 200 });
    expect(value).toBe(TEXT);
  });

  it('is decoded whatever the case of the name', async () => {
    expect((await received(` ${name.toUpperCase()} `, [encoded])).value).toBe(TEXT);
  });

  it.each([
    ['in its middle', Math.floor(encoded.length / 2)],
    ['in its last bytes', encoded.length - 9],
    ['in its first bytes', 3],
    ['at its start', 0],
  ])('is cut off %s, and may come again', async (_, length) => {
    const { end, failure } = await received(name, inPieces(encoded.subarray(0, length), 1000));
    expect(end).toEqual(lost(false));
    expect(failure?.message).toMatch(BROKEN);
  });

  it.each([
    [
      'other bytes in its middle',
      Buffer.concat([encoded.subarray(0, 300), Buffer.alloc(40, 0xff), encoded.subarray(340)]),
    ],
    ['the text itself', Buffer.from(TEXT)],
  ])('is damaged with %s, and may come again', async (_, bytes) => {
    const { end, failure } = await received(name, inPieces(bytes, 1000));
    expect(end).toEqual(lost(false));
    expect(failure?.message).toMatch(BROKEN);
  });

  it.each([
    ['in the same piece', [Buffer.concat([encoded, Buffer.from('x')])]],
    ['in another piece', [encoded, Buffer.from('xyz')]],
    ['as zeros', [encoded, Buffer.alloc(10)]],
    ['in many more pieces', [encoded, ...Array.from({ length: 50 }, () => Buffer.alloc(65_536, 1))]],
  ])('is refused with bytes behind its end %s', async (_, pieces) => {
    const { end, failure } = await received(name, pieces);
    expect(end).toEqual(lost(false));
    expect(failure?.message).toMatch(/^The response (?:continues after its compressed data|was cut off)/);
  });

  it('has the length of its compressed form', async () => {
    const { end, failure } = await received(name, [encoded], TEXT.length);
    expect(end).toEqual(lost(false));
    expect(failure?.message).toBe(
      `The response was cut off after ${encoded.length} of ${TEXT.length} bytes. (HTTP 200)`,
    );
  });

  it('is given up for good where it expands without end, long before it is read', async () => {
    const zeros = await compressedZeros(name, 128);
    const { end, failure, read } = await received(name, inPieces(zeros, 1000));
    expect(end).toEqual(lost(true));
    expect(failure?.message).toBe('The response is more than 1000 times larger than its compressed form. (HTTP 200)');
    expect(read.bytes).toBeLessThan(100_000);
  });
});

/** Many MiB of zeros in one coding, made piece by piece. */
async function compressedZeros(name: string, mebibytes: number): Promise<Buffer> {
  const { createZstdCompress } = zlib as unknown as { readonly createZstdCompress: typeof zlib.createBrotliCompress };
  const makers: Readonly<Record<string, () => zlib.Gzip | zlib.BrotliCompress>> = {
    deflate: () => zlib.createDeflate({ level: 9 }),
    br: () => zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    zstd: () => createZstdCompress(),
  };
  const compressor = (makers[name] ?? (() => zlib.createGzip({ level: 9 })))();
  const pieces: Buffer[] = [];
  compressor.on('data', (piece: Buffer) => pieces.push(piece));
  const zeros = Buffer.alloc(1024 * 1024);
  for (let written = 0; written < mebibytes; written++) if (!compressor.write(zeros)) await once(compressor, 'drain');
  compressor.end();
  await once(compressor, 'end');
  return Buffer.concat(pieces);
}

describe('an answer', () => {
  const plain = Buffer.from(TEXT);

  it.each<[string, string | undefined, Uint8Array]>([
    ['no coding', undefined, plain],
    ['an empty name', '', plain],
    ['identity', 'identity', plain],
    ['the old name of gzip', 'x-gzip', gzipSync(plain)],
    ['identity beside another', 'identity, gzip', gzipSync(plain)],
    ['two codings, the first applied first', 'gzip, br', brotliCompressSync(gzipSync(plain))],
    ['the same one twice', 'gzip, gzip', gzipSync(gzipSync(plain))],
    [
      'several parts of gzip in a row',
      'gzip',
      Buffer.concat([gzipSync(plain.subarray(0, 9)), gzipSync(plain.subarray(9))]),
    ],
    ['a name that no decoder has, for plain text', 'utf-8', plain],
  ])('is read with %s', async (_, encoding, bytes) => {
    expect((await received(encoding, inPieces(bytes, 4096), bytes.length)).value).toBe(TEXT);
  });

  it.each([
    ['unknown', 'compress'],
    ['unknown beside a known one', 'gzip, lzma'],
    ['hostile', 'a\u001b[31m'],
    ['inherited', 'constructor'],
    ['longer than any server needs', 'gzip, gzip, gzip, gzip, gzip, gzip'],
  ])('is given up for good in an encoding that is %s', async (_, encoding) => {
    const { end, failure } = await received(encoding, [Buffer.from([0x1f, 0x9d, 0x90])]);
    expect(end).toEqual(lost(true));
    expect(failure?.message).toBe(`The response is in an encoding that molar does not know (${encoding}). (HTTP 200)`);
  });

  it('is given up for good behind 64 MiB of text, whatever it was compressed to', async () => {
    // Random letters before so many zeros keep it below the factor.
    const zeros = 66 * 1024 * 1024;
    const bytes = gzipSync(Buffer.concat([Buffer.from(TEXT), Buffer.alloc(zeros)]), { level: 1 });
    expect(zeros).toBeLessThan(bytes.length * 1000);
    const { end, failure } = await received('gzip', inPieces(bytes, 1000));
    expect(end).toEqual(lost(true));
    expect(failure?.message).toBe('The response is larger than 64 MiB. (HTTP 200)');
  });

  it('is given up for good where one bomb is inside another', async () => {
    const bytes = gzipSync(await compressedZeros('gzip', 48));
    const { end, failure } = await received('gzip, gzip', [bytes]);
    expect(end).toEqual(lost(true));
    expect(failure?.message).toContain('1000 times larger');
  });

  it.each([
    ['4 MiB of notes that are all alike', 8_000, 1000, () => ''],
    ['16 MiB of notes that are nearly alike', 32_000, 400, (id: number) => hash('sha256', String(id), 'hex')],
  ])('is read where it is %s', async (_, length, factor, own) => {
    const note = Array.from({ length: length / 10 }, (_word, index) => `${1000 + ((index * 7919) % 997)} mm, `).join(
      '',
    );
    const page = JSON.stringify({ data: Array.from({ length: 500 }, (_record, id) => ({ id, note: note + own(id) })) });
    const bytes = brotliCompressSync(page, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
    expect(page.length / bytes.length).toBeGreaterThan(factor);
    // Compared as a flag: a difference would be printed whole.
    expect((await received('br', [bytes])).value === page).toBe(true);
  });

  it('of an error is read too', async () => {
    const problem = { code: 'auth.scope', title: 'No', description: 'Not allowed here.', source: null };
    const body = gzipSync(JSON.stringify({ data: null, warnings: [], errors: [problem] }));
    const script = new Script({ ...answer(403, '', { 'content-encoding': 'gzip' }), body: pieceOf(body) });
    await expect(clientOf(script).request({ method: 'GET', path: '/x' })).rejects.toMatchObject({
      status: 403,
      message: 'Not allowed (HTTP 403): Not allowed here.',
    });
  });

  it.each([
    ['damaged', 'gzip', 6, /cut off or damaged \(gzip\)/],
    ['in an unknown encoding', 'lzma', 1, /does not know \(lzma\)/],
  ])('that is %s in %s is asked for %i times, and ends with 8', async (_, encoding, times, message) => {
    const steps = Array.from({ length: 6 }, () => ({
      ...answer(200, '', { 'content-encoding': encoding }),
      body: pieceOf(Buffer.from([0x1f, 0x8b, 0xff])),
    }));
    const script = new Script(...steps);
    await expect(clientOf(script).request({ method: 'GET', path: '/x' })).rejects.toMatchObject({
      exitCode: 8,
      code: 'response.malformed',
      message: expect.stringMatching(message),
    });
    expect(script.requests).toHaveLength(times);
  });
});

async function* pieceOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describe('a request', () => {
  const accepted = zstdCompressSync === undefined ? 'br, gzip' : 'zstd, br, gzip';

  it.each(['https://api.example.com/x', 'http://127.0.0.1:4010/x'])('to %s asks for what it can read', async (url) => {
    const script = new Script(answer(200, '{"data":[]}'));
    await attempt({ send: script.send, clock: new SleepLog(), timeout: 1000 }, { ...REQUEST, url }, String);
    expect(script.requests[0]?.headers['accept-encoding']).toBe(accepted);
  });

  it('asks for what its caller says', async () => {
    const script = new Script(answer(200, '{"data":[]}'));
    await clientOf(script).request({ method: 'GET', path: '/x', headers: { 'accept-encoding': 'identity' } });
    expect(script.requests[0]?.headers['accept-encoding']).toBe('identity');
  });

  it('of a stream asks for none', async () => {
    const script = new Script(answer(200, ''));
    await clientOf(script).open({ path: '/stream' });
    expect(script.requests[0]?.headers).not.toHaveProperty('accept-encoding');
  });
});
