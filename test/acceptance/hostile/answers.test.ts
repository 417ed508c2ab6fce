import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { molarHere } from '../inprocess.ts';
import { connection, molar } from '../molar.ts';
import { hostileServer, TestPlace } from './hostileplace.ts';
import { type Answering, body, data, endless, pages, raw, rawThenEnd, rawThenReset } from './hostileserver.ts';

const place = new TestPlace();
const server = hostileServer();

type Case = readonly [name: string, answering: Answering, says: RegExp];

const WHOLE = '{"data":[{"id":1,"lastName":"Smith"}],"warnings":[],"errors":[]}';
const head = (length: number, more = '') => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n${more}\r\n`;
const NO_ENVELOPE = /The response is not an API envelope/;
const NO_LIST = /data is not a list of records/;
const NO_ID = /has a record without a usable id/;
const BOUND = 'lastModified>=0001-01-01T00:00:00Z';
/** As small as at the best quality, which takes half a second. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const LATIN_1 = Buffer.from(WHOLE.replace('Smith', 'Sm\u00efth'), 'latin1');

const BODIES: readonly Case[] = [
  ['a login page', body('<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' }), NO_ENVELOPE],
  ['an empty body', body(''), NO_ENVELOPE],
  ['204', body('', {}, 204), NO_ENVELOPE],
  ['truncated JSON', body(WHOLE.slice(0, -7)), NO_ENVELOPE],
  ['JSON twice', body(WHOLE + WHOLE), NO_ENVELOPE],
  ['a bare list', body('[{"id":1}]'), NO_ENVELOPE],
  ['null', body('null'), NO_ENVELOPE],
  ['an envelope without data', body('{"result":[]}'), NO_ENVELOPE],
  ['UTF-16', body(Buffer.from(WHOLE, 'utf16le')), NO_ENVELOPE],
  ['Latin-1', body(LATIN_1), /not valid UTF-8/],
  ['lzma', body(gzipSync(WHOLE), { 'content-encoding': 'lzma' }), /does not know \(lzma\)/],
  [
    'truncated gzip',
    body(gzipSync(WHOLE).subarray(0, 20), { 'content-encoding': 'gzip' }),
    /cut off or damaged \(gzip\)/,
  ],
  ['JSON called gzip', body(WHOLE, { 'content-encoding': 'gzip' }), /cut off or damaged \(gzip\)/],
  [
    'gzip and more',
    body(Buffer.concat([gzipSync(WHOLE), gzipSync(WHOLE)]), { 'content-encoding': 'gzip' }),
    NO_ENVELOPE,
  ],
  ['a gzip bomb', body(gzipSync(Buffer.alloc(20_000_000)), { 'content-encoding': 'gzip' }), /1000 times larger/],
  [
    'a brotli bomb',
    body(brotliCompressSync(Buffer.alloc(20_000_000), FAST), { 'content-encoding': 'br' }),
    /1000 times larger/,
  ],
  [
    'nesting without end',
    body(`{"data":[{"id":1,"lastName":${'['.repeat(200_000)}${']'.repeat(200_000)}}]}`),
    /nested too/,
  ],
];

const RECORDS: readonly Case[] = [
  ['null for a list', data(null), NO_LIST],
  ['a record for a list', data({ id: 1 }), NO_LIST],
  ['a list of texts', data(['a']), NO_LIST],
  ['a list of lists', data([[1]]), NO_LIST],
  ['a list of null', data([null]), NO_LIST],
  ['no id', data([{ lastName: 'x' }]), NO_ID],
  ['an id beyond 2^53', body('{"data":[{"id":9007199254740993}]}'), NO_ID],
  ['an id of 1e400', body('{"data":[{"id":1e400}]}'), NO_ID],
  ['a negative id', data([{ id: -1 }]), NO_ID],
  ['a broken id', data([{ id: 1.5 }]), NO_ID],
  ['an object for an id', data([{ id: { id: 1 } }]), NO_ID],
  ['an id of 5000 digits', data([{ id: '9'.repeat(5000) }]), NO_ID],
  ['an id twice in one key', body('{"data":[{"id":1,"id":-5}]}'), NO_ID],
  ['the same page for ever', data([{ id: 5 }]), /has id 5 after 5: ids must strictly increase/],
  ['a page that steps back', pages([{ id: 5 }, { id: 6 }], [{ id: 3 }]), /has id 3 after 6/],
  ['a page in disorder', pages([{ id: 6 }, { id: 5 }]), /has id 5 after 6/],
];

const ENDED: readonly Case[] = [
  ['a reset in the body', rawThenReset(head(WHOLE.length), WHOLE.slice(0, 20)), /cut off/],
  ['a reset in the head', rawThenReset('HTTP/1.1 200 OK\r\ncontent-'), /Connection lost: 127/],
  ['an end in the head', rawThenEnd('HTTP/1.1 200 OK\r\ncontent-'), /Connection lost: 127|not HTTP/],
  ['an end without a word', rawThenEnd(''), /Connection lost: 127/],
  [
    'a chunk of 16 EiB',
    rawThenEnd('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n'),
    /cut off/,
  ],
  ['early hints without end', earlyHints, /No complete response|Connection lost|too large|not HTTP/],
  ['304 to a question without a condition', body('', {}, 304), /HTTP 304/],
];

/** The connection stays open, and nothing more comes. */
const OPEN: readonly Case[] = [
  ['two lengths', raw(head(WHOLE.length, 'content-length: 3\r\n'), WHOLE), /length/],
  ['a negative length', raw('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n', WHOLE), /not HTTP/],
  ['a length and chunks', raw(head(5, 'transfer-encoding: chunked\r\n'), '5\r\nhello\r\n0\r\n\r\n'), /length/],
  ['headers of 1 MB', raw(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(1_000_000)}\r\n\r\n`), /headers too large/],
  ['status 999', raw('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'), /HTTP 999/],
  ['status 000', raw('HTTP/1.1 000 Odd\r\ncontent-length: 0\r\n\r\n'), /127/],
];

/** One of each kind, read by a process of its own, which has to end though the connection does not. */
const PROCESSES: readonly Case[] = [
  ['a list without end', endless('{"data":[{"id":1}', ',{"id":1}'.repeat(8000)), /larger than 64 MiB/],
  ['another protocol', raw('SSH-2.0-OpenSSH_9.6\r\n'), /not HTTP/],
  [
    'a switch of protocols',
    raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    /127/,
  ],
];

/** Some thousand answers that are none yet, then the end. */
function earlyHints({ socket }: Parameters<Answering>[0]): void {
  socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(5000));
  socket.end();
}

describe.each([
  ['a body that is none', BODIES, molarHere],
  ['records that are none', RECORDS, molarHere],
  ['a connection that ends', ENDED, molarHere],
  ['an answer that is none', OPEN, molarHere],
  [
    'an answer that is none, in a process',
    PROCESSES,
    (argv: readonly string[], env: Record<string, string>) => molar(place.path, argv, env),
  ],
] as const)('an export that is given %s', (group, cases, run) => {
  test.concurrent.each(cases)('%s: ends with 8, says so, and leaves the file alone', async (name, answering, says) => {
    const file = `${group} ${name}.csv`.replace(/[^a-z0-9.]+/gi, '-');
    await writeFile(join(place.path, file), 'before\n');
    const argv = ['patients', 'list', '--out', join(place.path, file), '--max-retries', '0', '--fields', 'id,lastName'];
    const { code, stdout, stderr } = await run(argv, connection(server.open(answering)));
    expect([code, stdout, stderr]).toEqual([8, '', expect.stringMatching(says)]);
    expect(stderr).toMatch(/^Error: .+\n(Request: .+\n)?Next: .+\n$/);
    expect(await readFile(join(place.path, file), 'utf8')).toBe('before\n');
    // What is left is for --resume: neither a lock nor a journal half written.
    const left = (await readdir(place.path)).filter((other) => other.startsWith(file));
    expect([[file], [file, `${file}.part`, `${file}.part.json`]]).toContainEqual(left.toSorted());
  });
});

describe('what is odd and right all the same', () => {
  const two = pages([{ id: 1, lastName: 'Smith' }]);
  const CASES: readonly (readonly [string, Answering])[] = [
    [
      'a byte order mark',
      (asked, response) => body(`\ufeff${asked.turn > 0 ? '{"data":[]}' : WHOLE}`)(asked, response),
    ],
    [
      'text/html',
      (asked, response) =>
        body(asked.turn > 0 ? '{"data":[]}' : WHOLE, { 'content-type': 'text/html' })(asked, response),
    ],
    [
      'a total that lies',
      (asked, response) =>
        body(
          JSON.stringify({
            data: asked.turn > 0 ? [] : [{ id: 1, lastName: 'Smith' }],
            meta: { pagination: { total: 1e9, lastId: 77, hasMore: asked.turn > 0 } },
          }),
        )(asked, response),
    ],
    [
      'a negative total',
      (asked, response) =>
        body(
          JSON.stringify({
            data: asked.turn > 0 ? [] : [{ id: 1, lastName: 'Smith' }],
            meta: { pagination: { total: -5, hasMore: 'no' } },
          }),
        )(asked, response),
    ],
    [
      'cookies',
      (asked, response) => {
        response.setHeader('set-cookie', ['session=stolen; Path=/', 'other=1']);
        return two(asked, response);
      },
    ],
    [
      'one early hint',
      (asked, response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        return two(asked, response);
      },
    ],
    [
      'a Location with 200',
      (asked, response) => {
        response.setHeader('location', 'https://evil.example/');
        return two(asked, response);
      },
    ],
  ];

  test.concurrent.each(CASES)('%s: the list is as it should be', async (_name, answering) => {
    const url = server.open(answering);
    const ended = await molarHere(['patients', 'list', '--fields', 'id,lastName'], connection(url));
    expect(ended).toEqual({ code: 0, stdout: 'id,lastName\n1,Smith\n', stderr: '' });
    // A server that answers the same to everything does not count, so what has no date is asked for as well.
    const all = server.requestsTo(url);
    const asked = all.filter(({ url: { pathname, searchParams } }) =>
      [pathname.endsWith('/patients'), searchParams.get('filter') === BOUND].every(Boolean),
    );
    // The page after a last id that was a lie is asked for early, and not used.
    expect(asked.map((each) => each.url.searchParams.get('lastId')).filter((id) => id !== '77')).toEqual(['0', '1']);
    expect(all.filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
  });
});

describe('Retry-After', () => {
  const busy = (after: string): Answering => body('{"data":null}', { 'retry-after': after }, 429);

  test.concurrent.each(['-5', 'soon', '1e9', 'Thu, 01 Jan 1970 00:00:00 GMT', '0', ''])(
    'of %j holds nobody up',
    async (after) => {
      const url = server.open(busy(after));
      const ended = await molarHere(['patients', 'list', '--max-retries', '1'], connection(url));
      expect([ended.code, ended.stdout]).toEqual([7, '']);
      expect(server.requestsTo(url)).toHaveLength(2);
    },
  );
});
