import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { downloadTo } from '../../../../src/core/documents/downloads/downloadfile.ts';
import { thisBoot } from '../../../../src/filesystem/boot.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { OWNER_ONLY } from '../../../support/capabilities.ts';
import { replaceSystem } from '../../../support/othersystem.ts';
import { base64, CONTENT, OTHER, receiving } from '../receiving.ts';
import {
  chunks,
  cut,
  etagOf,
  fileAnswer,
  type Held,
  partial,
  type Special,
  sha256,
  status,
  whole,
} from './downloadserver.ts';

const at = receiving();
const { download, stored, outcome, interrupted } = at;
const part = () => join(at.folder, 'scan.pdf.part');

describe('a download that is cut off', () => {
  it('goes on behind what came, and checks that the file is still the same', async () => {
    at.server.specials = [
      (it) => cut(whole(it.content, at.server.extra(it)), 300),
      (it, request) => cut(fileAnswer(it, request, at.server.extra(it)), 200),
    ];
    expect(await download()).toEqual({ bytes: 1000, sha256: sha256(CONTENT), status: 'downloaded' });
    expect(at.server.ranges).toEqual([undefined, 'bytes=300-', 'bytes=500-']);
    expect(at.server.fileRequests[1]?.headers['if-range']).toBe(etagOf(at.held));
    expect(await stored()).toEqual(CONTENT);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('goes on where a host gives less than the rest, and hashes of what it gives', async () => {
    await interrupted();
    const give =
      (start: number, end: number): Special =>
      ({ content }) => {
        const body = content.subarray(start, end);
        const range = `bytes ${start}-${end - 1}/${content.length}`;
        const headers = { 'content-range': range, 'content-digest': `sha-256=:${base64(body)}:` };
        return { status: 206, headers, body: chunks(body) };
      };
    at.server.specials = [give(400, 700), give(700, 1000)];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(['bytes=400-', 'bytes=700-']);
    expect(await stored()).toEqual(CONTENT);
  });

  it('goes on in the next run', async () => {
    await interrupted();
    expect((await readdir(at.folder)).sort()).toEqual(['scan.pdf.part', 'scan.pdf.part.json']);
    expect((await stat(join(at.folder, 'scan.pdf.part'))).mode & 0o777).toBe(OWNER_ONLY.file);
    expect(JSON.parse(await readFile(join(at.folder, 'scan.pdf.part.json'), 'utf8'))).toEqual({
      version: 1,
      boot: thisBoot(),
      server: 'https://api.example.com',
      organization: 'org-1',
      id: 5,
      variant: 'original',
      guid: 'guid-5',
      validator: { total: 1000, etag: etagOf(at.held), lastModified: null },
    });
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(['bytes=400-']);
    expect(await stored()).toEqual(CONTENT);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('starts over when the machine was started again, since a power cut may have taken any byte', async () => {
    await interrupted();
    replaceSystem({ bootId: () => 'another' });
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual([undefined]);
    expect(await stored()).toEqual(CONTENT);
  });

  it('asks for the last byte alone when every byte is there', async () => {
    await interrupted(1000);
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(['bytes=999-']);
    expect(await stored()).toEqual(CONTENT);
  });

  it.each<[string, () => Record<string, string>, (string | undefined)[], string | undefined]>([
    ['a weak entity tag and the storage identifier', () => ({ etag: 'W/"x"' }), ['bytes=400-'], undefined],
    [
      'a date',
      () => ({ 'last-modified': 'Sat, 21 Nov 2026 00:00:00 GMT' }),
      ['bytes=400-'],
      'Sat, 21 Nov 2026 00:00:00 GMT',
    ],
    ['the storage identifier alone', () => ({}), ['bytes=400-'], undefined],
    ['ranges refused', () => ({ etag: '"x"', 'accept-ranges': 'none' }), [undefined], undefined],
  ])('with %s', async (_, extra, ranges, ifRange) => {
    at.server.extra = extra;
    await interrupted();
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(ranges);
    expect(at.server.fileRequests[0]?.headers['if-range']).toBe(ifRange);
    expect(await stored()).toEqual(CONTENT);
  });

  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['no more than a weak entity tag', { etag: 'W/"x"' }],
  ])('starts over where %s tells one content from another', async (_, extra) => {
    at.held.guid = null;
    at.server.extra = () => extra;
    await interrupted();
    expect(await readdir(at.folder)).toEqual([]);
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual([undefined]);
  });

  it('gets there through any number of cuts, as long as something comes each time', async () => {
    const large = Buffer.alloc(5 * 1024 * 1024, 'abc');
    at.held.content = large;
    at.server.specials = Array.from(
      { length: 15 },
      () => (it, request) => cut(fileAnswer(it, request, at.server.extra(it)), 300_000),
    );
    expect(await outcome()).toEqual(['downloaded', large.length]);
    expect(at.server.ranges).toHaveLength(16);
    expect(sha256(await stored())).toBe(sha256(large));
  });

  it('gives up on a host that changes the file each time', async () => {
    at.held.content = Buffer.alloc(600_000, 1);
    let version = 0;
    at.server.specials = Array.from({ length: 40 }, () => (it, request) => {
      const extra = { etag: `"${++version}"` };
      return request.headers.range === undefined
        ? cut(whole(it.content, extra), 300_000)
        : partial(it.content, 300_000, extra);
    });
    expect(await outcome()).toEqual([8, expect.any(String)]);
    expect(at.server.ranges.length).toBeLessThan(20);
  });
});

describe('a file that is another by now', () => {
  const [MADE, CHANGED] = ['Sat, 21 Nov 2026 00:00:00 GMT', 'Sun, 22 Nov 2026 00:00:00 GMT'] as const;

  /** A range that says no more than which it is. */
  const ranged = (range: string, body: Buffer, more: Readonly<Record<string, string>> = {}) => ({
    status: 206,
    headers: { 'content-range': range, ...more },
    body: chunks(body),
  });

  it.each<[string, Special]>([
    ['the whole of it, as If-Range asks', (it, request) => fileAnswer(it, request, at.server.extra(it))],
    ['a range under another entity tag', (it) => partial(it.content, 400, { etag: '"other"' })],
    ['a range under another date', (it) => partial(it.content, 400, { 'last-modified': CHANGED })],
    ['a range of another size', (it) => partial(Buffer.concat([it.content, it.content]), 400)],
    [
      'a range of another size, of which it gives as much',
      (it) => ranged('bytes 400-999/2000', it.content.subarray(400)),
    ],
    ['a range that begins elsewhere', (it) => partial(it.content, 300, { etag: etagOf({ ...it, content: CONTENT }) })],
    ['a range that begins earlier', (it) => ranged('bytes 300-999/1000', it.content.subarray(400))],
    ['a range that ends behind the end', (it) => ranged('bytes 400-1000/1000', it.content.subarray(399))],
    [
      'a range of another length than it says',
      (it) => ranged('bytes 400-999/1000', it.content.subarray(400), { 'content-length': '599' }),
    ],
    ['a range without saying which', (it) => ({ ...partial(it.content, 400), headers: {} })],
    ['that the range is out of it', () => ({ status: 416, headers: {}, body: chunks('') })],
  ])('is downloaded from the start when the host answers with %s', async (_, special) => {
    at.server.extra = (it) => ({ etag: etagOf(it), 'last-modified': it.content.equals(CONTENT) ? MADE : CHANGED });
    await interrupted();
    at.held.content = OTHER;
    at.server.specials = [special];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(await stored()).toEqual(OTHER);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('is downloaded from the start when its storage identifier changed', async () => {
    at.server.extra = () => ({});
    await interrupted();
    Object.assign(at.held, { content: OTHER, guid: 'guid-6' });
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual([undefined]);
    expect(await stored()).toEqual(OTHER);
  });

  it('is downloaded from the start when that is told with the link that takes the place of an expired one', async () => {
    at.server.extra = () => ({});
    await interrupted();
    at.server.specials = [
      () => {
        Object.assign(at.held, { content: OTHER, guid: 'guid-6' });
        return status(403);
      },
    ];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(at.server.ranges).toEqual(['bytes=400-', undefined]);
    expect(await stored()).toEqual(OTHER);
  });

  it('has no note beside the part of before, not even for a moment', async () => {
    await interrupted();
    at.held.content = OTHER;
    const { unlink } = system;
    const isNoted: boolean[] = [];
    replaceSystem({
      async unlink(path) {
        if (path === part()) isNoted.push(existsSync(`${part()}.json`));
        return unlink(path);
      },
    });
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(new Set(isNoted)).toEqual(new Set([false]));
  });

  it('is downloaded whole by a host that takes no notice of ranges', async () => {
    await interrupted();
    at.server.specials = [(it) => whole(it.content, at.server.extra(it))];
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(await stored()).toEqual(CONTENT);
  });
});

describe('a body', () => {
  const body =
    (content: Buffer, length: number): Special =>
    () => ({ status: 200, headers: { 'content-length': String(length), etag: '"x"' }, body: chunks(content) });

  it.each<[string, Special[]]>([
    ['shorter than announced', [body(CONTENT.subarray(0, 500), 1000)]],
    ['longer than announced', [body(CONTENT, 900)]],
    ['of no end', [() => ({ status: 200, headers: { 'content-length': '10' }, body: endless() })]],
    ['after failures', [500, 503, 429].map((code) => () => status(code, { 'retry-after': '0' }))],
  ])('%s is asked for again', async (_, specials) => {
    at.server.specials = specials;
    expect(await outcome()).toEqual(['downloaded', 1000]);
    expect(await stored()).toEqual(CONTENT);
    expect(await readdir(at.folder)).toEqual(['scan.pdf']);
  });

  it('that is always longer leaves nothing', async () => {
    at.server.specials = Array.from({ length: 7 }, () => body(CONTENT, 900));
    expect(await outcome()).toEqual([8, 'The download is longer than the 900 bytes announced.']);
    expect(at.server.fileRequests).toHaveLength(6);
    expect(await readdir(at.folder)).toEqual([]);
  });

  it('that stands still is given up and asked for again', async () => {
    at.server.specials = [(held, request) => ({ ...whole(held.content), body: silent(request.signal) })];
    const downloading = at.server.downloading({ fetching: at.server.fetching({ stall: 5 }) });
    const place = { path: join(at.folder, 'scan.pdf'), label: 'scan.pdf' };
    const received = await downloadTo(place, at.server.row(at.held), downloading, false);
    expect(received.sha256).toBe(sha256(CONTENT));
    expect(at.server.ranges).toEqual([undefined, undefined]);
  });

  it('without a length is taken as it comes', async () => {
    at.server.specials = [(it: Held) => ({ status: 200, headers: {}, body: chunks(it.content) })];
    expect(await outcome()).toEqual(['downloaded', 1000]);
  });

  it('of nothing is a file of nothing', async () => {
    at.held.content = Buffer.alloc(0);
    expect(await outcome()).toEqual(['downloaded', 0]);
    expect(await stored()).toEqual(Buffer.alloc(0));
  });
});

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(64);
}

/** Gives nothing until it is aborted. */
async function* silent(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  await new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)));
  yield Buffer.alloc(0);
}
