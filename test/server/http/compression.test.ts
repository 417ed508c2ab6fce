import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingFor } from '../../../src/server/http/compression.ts';
import { callSample, operations, type TestedOperation } from '../../contract/operations.ts';
import { type Called, type CallOptions, rowOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { sharedService } from '../../support/service.ts';
import { linksOf, posted } from '../resources/documentsof.ts';
import { address, open } from '../stream/listening.ts';

const service = sharedService(undefined, { maxText: 1_000_000 });

const PLAIN: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync };

/** The body of an answer as it was before it was compressed. */
function plainOf({ headers, bytes }: Called): string {
  const { 'content-encoding': coding } = headers;
  return (coding === undefined ? bytes : (PLAIN[coding]?.(bytes) ?? Buffer.alloc(0))).toString();
}

const accepting = (encodings: string | undefined, options: CallOptions = {}): CallOptions => ({
  ...options,
  headers: { ...options.headers, ...(encodings !== undefined && { 'accept-encoding': encodings }) },
});

const lists = operations('list');
const [, appointments] = lists.find(([id]) => id === 'appointments.list') as [string, TestedOperation];
const [, patients] = lists.find(([id]) => id === 'patients.list') as [string, TestedOperation];

describe('the coding of an answer (RFC 9110, 12.5.3)', () => {
  it.each<[string | undefined, string | undefined]>([
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br', 'br'],
    ['GZIP, Br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['deflate, zstd', undefined],
    ['identity', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, *;q=0.5', 'br'],
    ['gzip;q=1.0, br;q=0.9', 'gzip'],
    ['gzip ; q=0.2 , br ; q=0.201', 'br'],
    ['gzip;Q=0.5', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, br;q=0.001', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', undefined],
    ['br;q=2', undefined],
    ['br;q=, gzip;q=0.1234', undefined],
    ['br;level=1', undefined],
    [',, ,gzip,', 'gzip'],
    ['brotli', undefined],
  ])('that takes %j is %s', (header, coding) => {
    expect(codingFor(header)).toBe(coding);
  });
});

describe.each(lists.filter(([id]) => id !== 'documents.list'))('%s', (_id, tested) => {
  it.each(['br', 'gzip'])('answers the same in %s', async (coding) => {
    const [plain, called] = [await callSample(service, tested), await callSample(service, tested, accepting(coding))];
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plainOf(called)).toBe(plain.text);
    expect(called.headers['content-encoding']).toBe(plain.bytes.length > 1024 ? coding : undefined);
    expect(called.headers['content-length']).toBe(String(called.bytes.length));
    expect(called.headers['content-type']).toBe(plain.headers['content-type']);
  });
});

describe('an answer', () => {
  const list = (encodings?: string, query: CallOptions['query'] = {}) =>
    callSample(service, patients, accepting(encodings, { query }));

  it.each([undefined, 'br', 'gzip', 'identity'])(
    'of more than 1 KiB varies with what is accepted (%s)',
    async (accepted) => {
      expect((await list(accepted)).headers.vary).toBe('accept-encoding');
    },
  );

  it.each([
    [1024, undefined, undefined],
    [1025, 'br', 'accept-encoding'],
  ])('of %i bytes has the coding %s', async (length, coding, vary) => {
    const id = rowOf(await service.call('POST', '/appointments', { body: appointments.fixture.create?.(length) })).id;
    const get = (encodings?: string) =>
      service.call('GET', `/appointments/${id}`, accepting(encodings, { query: { responseFields: 'note' } }));
    const named = (note: string) => service.call('PUT', `/appointments/${id}`, { body: { note } });
    await named('a');
    await named('a'.repeat(length - (await get()).bytes.length + 1));
    const called = await get('br');
    expect(plainOf(called)).toHaveLength(length);
    expect([called.headers['content-encoding'], called.headers.vary]).toEqual([coding, vary]);
  });

  it('to HEAD has the headers of that to GET', async () => {
    const [head, get] = await Promise.all(
      ['HEAD', 'GET'].map((method) => service.call(method, '/patients', accepting('br'))),
    );
    const of = ({ headers }: Called) => [
      headers['content-encoding'],
      headers['content-length'],
      headers.vary,
      headers['content-type'],
    ];
    expect(head?.status).toBe(200);
    expect(head?.bytes).toHaveLength(0);
    expect(of(head as Called)).toEqual(of(get as Called));
    expect(get?.headers['content-encoding']).toBe('br');
  });

  it('that is given again for an Idempotency-Key is compressed for whoever asks now', async () => {
    const body = { ...appointments.fixture.create?.(9901), note: 'A'.repeat(2000) };
    const post = (encodings: string) =>
      service.call(
        'POST',
        '/appointments',
        accepting(encodings, { body, headers: { 'idempotency-key': 'compressed' } }),
      );
    const [first, again, plain] = [await post('br'), await post('gzip'), await post('identity')];
    expect([first, again, plain].map(({ status, headers }) => [status, headers['content-encoding']])).toEqual([
      [201, 'br'],
      [201, 'gzip'],
      [201, undefined],
    ]);
    expect(new Set([first, again, plain].map(plainOf)).size).toBe(1);
  });

  it.each(['//openapi.json', '//docs'])('%s is compressed', async (path) => {
    const [plain, called] = [await service.call('GET', path), await service.call('GET', path, accepting('gzip, br'))];
    expect([plain.headers['content-encoding'], called.headers['content-encoding']]).toEqual([undefined, 'br']);
    expect(plainOf(called) === plain.text).toBe(true);
    expect(called.headers.vary).toBe('accept-encoding');
  });

  it.each(['br', 'gzip'])('of more than a MiB is compressed in %s, too', async (coding) => {
    const ids: unknown[] = [];
    for (let index = 0; index < 3; index++) {
      const body = { ...appointments.fixture.create?.(9000 + index), note: `${coding} `.repeat(150_000) };
      ids.push(rowOf(await service.call('POST', '/appointments', { body })).id);
    }
    const query = { filter: `id->[${ids.join(',')}]` };
    const plain = await service.call('GET', '/appointments', { query });
    expect(plain.bytes.length).toBeGreaterThan(1024 * 1024);
    const called = await service.call('GET', '/appointments', accepting(coding, { query }));
    expect(called.headers['content-encoding']).toBe(coding);
    expect(called.bytes.length).toBeLessThan(plain.bytes.length / 100);
    expect(plainOf(called) === plain.text).toBe(true);
  });
});

describe('never compressed, whoever asks', () => {
  const asked = accepting('br, gzip, zstd, deflate, *');

  /** What must not be compressed, and must be long enough to be. */
  function expectPlain({ headers, bytes }: Pick<Called, 'headers' | 'bytes'>): void {
    expect(bytes.length).toBeGreaterThan(1024);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('vary');
  }

  // The length of one that is compressed would tell of the signature beside names that others chose (BREACH).
  describe('is an answer with download links', () => {
    const tags = Array.from({ length: 30 }, (_, index) => `a tag of a document, number ${index}`);

    it.each(['list', 'get', 'create', 'update'])('documents.%s', async (verb) => {
      const { id } = await posted(service, { name: `never ${verb}`, tags });
      const found = operations().find(([name]) => name === `documents.${verb}`)?.[1] as TestedOperation;
      const called = await callSample(service, found, { ...asked, ...(verb !== 'list' && { id }), ...bodyOf(verb) });
      expect(called.status).toBe(verb === 'create' ? 201 : 200);
      expect(called.text).toMatch(/[?&]signature=/);
      expectPlain(called);
    });

    /** A body after which the answer is long enough. */
    const bodyOf = (verb: string): CallOptions => {
      if (verb === 'create') return { body: { name: 'made', mimeType: 'PDF', file: { content: PDF }, tags } };
      return verb === 'update' ? { body: { tags: tags.toReversed() } } : {};
    };
  });

  it('is a file', async () => {
    const content = Buffer.concat([Buffer.from(PDF, 'base64'), Buffer.alloc(4096, 32)]).toString('base64');
    const { original = '' } = linksOf(await posted(service, { name: 'long', file: { content } }));
    const called = await service.call('GET', original, { ...asked, token: null, organization: null });
    expect(called.status).toBe(200);
    expectPlain(called);
  });

  it('are the metrics', async () => {
    expectPlain(await service.call('GET', '//metrics', asked));
  });

  it('is a refusal', async () => {
    const filter = Array.from({ length: 20 }, (_, index) => `nosuch${index}==1`).join(',');
    const called = await service.call('GET', '/patients', { ...asked, query: { filter } });
    expect(called.status).toBe(400);
    expectPlain(called);
  });

  it('is the stream', async () => {
    const request = open(await address(service), { headers: { 'accept-encoding': 'br, gzip' } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(response.headers).not.toHaveProperty('content-encoding');
    request.destroy();
  });
});

it('no answer of any operation with a signature in it is compressed', async () => {
  for (const [id, tested] of operations().filter(([, { operation }]) => operation.method === 'GET')) {
    const called = await callSample(service, tested, accepting('gzip'));
    if (plainOf(called).includes('signature='))
      expect([id, called.headers['content-encoding']]).toEqual([id, undefined]);
  }
});
