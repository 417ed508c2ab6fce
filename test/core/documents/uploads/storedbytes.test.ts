import { describe, expect, it } from 'vitest';
import { documentLookUp } from '../../../../src/core/documents/uploads/stored.ts';
import type { IncomingResponse } from '../../../../src/core/transport/send.ts';
import { bytes, FakeServer, sha256 } from '../fakeserver.ts';
import { download, PATIENT, serverOf, sought } from './storing.ts';

describe('documentLookUp', () => {
  const body = (more: object = {}) => ({
    name: 'a',
    mimeType: 'pdf',
    ownerPatient: { id: 5 },
    file: { content: Buffer.from('one').toString('base64') },
    ...more,
  });
  const look = (server: FakeServer, sent: unknown) =>
    documentLookUp(server.client(), server.fetching(), sent)?.({ elapsed: () => 0, signal: undefined });

  it('finds the document of a body by its owner, name and bytes', async () => {
    const server = new FakeServer();
    server.add('a.pdf', 'ownerPatient:5', 'two');
    server.add('a.pdf', 'ownerPatient:6', 'one');
    expect(await look(server, body())).toBeUndefined();
    const mine = server.add('a.pdf', 'ownerPatient:5', 'one');
    expect(await look(server, body())).toMatchObject({ id: mine.id });
  });

  it.each<[string, string, object]>([
    ['the organization where nobody is named', 'ownerOrganization:org-1', { ownerPatient: undefined }],
    [
      'the organization where it is named',
      'ownerOrganization:org-2',
      { ownerPatient: null, ownerOrganization: { id: 'org-2' } },
    ],
    ['the perio exam that is named', 'ownerPerioExam:9', { ownerPatient: undefined, ownerPerioExam: { id: 9 } }],
    ['the patient that is named as text', 'ownerPatient:5', { ownerPatient: { id: '5' } }],
  ])('looks among the documents of %s', async (_name, owner, more) => {
    const server = new FakeServer();
    for (const other of ['ownerOrganization:org-1', 'ownerOrganization:org-2', 'ownerPerioExam:9', 'ownerPatient:5'])
      if (other !== owner) server.add('a.pdf', other, 'one');
    expect(await look(server, body(more))).toBeUndefined();
    const mine = server.add('a.pdf', owner, 'one');
    expect(await look(server, body(more))).toMatchObject({ id: mine.id });
  });

  it('takes only one with the tags that were sent', async () => {
    const server = new FakeServer();
    server.add('a.pdf', 'ownerPatient:5', 'one', ['old']);
    expect(await look(server, body({ tags: ['new'] }))).toBeUndefined();
    expect(await look(server, body({ tags: ['OLD'] }))).toMatchObject({ tags: ['old'] });
  });

  it('knows the name that the server makes of the one that was sent', async () => {
    const server = new FakeServer();
    const mine = server.add('a.jpeg', 'ownerPatient:5', 'one');
    expect(await look(server, body({ name: ' a ', mimeType: 'jpg' }))).toMatchObject({ id: mine.id });
    expect(await look(server, body({ name: 'a', mimeType: 'png' }))).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a body without a file', { ...body(), file: undefined }],
    ['a type that is none', body({ mimeType: 'EXE' })],
    ['a type that is no text', body({ mimeType: 5 })],
    ['a name that is none', body({ name: 5 })],
    ['a file without content', body({ file: {} })],
    ['a file that is text', body({ file: 'one' })],
  ])('is not there for %s', (_name, sent) => {
    expect(look(new FakeServer(), sent)).toBeUndefined();
  });
});

describe('a document whose id is known', () => {
  it('is that of the upload where its owner is the same, whatever its bytes', async () => {
    const { server, stored, asked } = serverOf();
    const mine = server.add('x.pdf', PATIENT, 'two');
    const other = server.add('a.pdf', 'ownerPatient:6', 'one');
    const all = stored();
    const file = sought('a.pdf', 'one');
    expect(await all.known(String(mine.id), file)).toMatchObject({ id: mine.id });
    expect(await all.known(String(mine.id), file)).toMatchObject({ id: mine.id });
    expect(await all.known(String(mine.id), sought('a.pdf', 'one'))).toBeUndefined();
    expect(await all.known(String(other.id), file)).toBeUndefined();
    expect(await all.known('4', file)).toBeUndefined();
    expect(asked()).toEqual(['get 1', 'get 1', 'get 2', 'get 0']);
  });

  it("is nobody else's from then on", async () => {
    const { server, stored } = serverOf();
    const mine = server.add('a.pdf', PATIENT, 'one');
    const all = stored();
    await all.known(String(mine.id), sought('b.pdf', 'two'));
    expect(await all.find(sought('a.pdf', 'one'))).toBeUndefined();
  });

  it('is none where the answer has none, and fails as the request does', async () => {
    const { server, stored } = serverOf();
    const { send } = server;
    let answer = download('{"data":[],"warnings":[],"errors":[]}');
    Object.assign(server, { send: async () => answer });
    expect(await stored().get('4')).toBeUndefined();
    answer = download('{"data":null,"warnings":[],"errors":[]}', {}, 404);
    expect(await stored().get('4')).toBeUndefined();
    for (const status of [400, 403, 410]) {
      answer = download('{"data":null,"warnings":[],"errors":[]}', {}, status);
      await expect(stored().get('4')).rejects.toMatchObject({ status });
    }
    Object.assign(server, { send });
  });
});

describe('the bytes of a document', () => {
  /** What a look for `one` finds where downloads give these; and how many of them it takes. */
  async function lookAt(...downloads: readonly (() => IncomingResponse)[]) {
    const { server, stored, asked } = serverOf();
    server.add('a.pdf', PATIENT, 'one');
    server.downloads = [...downloads];
    const found = await stored()
      .find(sought('a.pdf', 'one'))
      .then(
        (document) => (document === undefined ? 'another' : 'it'),
        (cause: Error) => cause.message,
      );
    return [found, asked().filter((each) => each.startsWith('file')).length, asked().at(-1)];
  }
  const repeated = (text: string, headers?: IncomingResponse['headers']) =>
    [0, 1, 2].map(() => () => download(text, headers));
  const digestOf = (text: string) => Buffer.from(sha256(text), 'hex').toString('base64');

  it.each<[string, (() => IncomingResponse)[], string, number]>([
    ['are the same', [], 'it', 1],
    ['are the same, whatever length is told', [() => download('one', { 'content-length': 'some' })], 'it', 2],
    ['have no length told', [() => download('one')], 'it', 1],
    ['come in parts', [() => ({ status: 200, headers: {}, body: bytes('o', 'n', 'e') })], 'it', 1],
    ['differ', repeated('onE'), 'another', 3],
    ['are fewer', repeated('on'), 'another', 3],
    ['are more', repeated('onee'), 'another', 3],
    ['are none', repeated(''), 'another', 3],
    [
      'are told to be more',
      repeated('', { 'content-length': '4' }).map((each) => () => ({ ...each(), body: bytes('four') })),
      'another',
      3,
    ],
    ['have the same hash told', [() => download('xxx', { 'repr-digest': `sha-256=:${digestOf('one')}:` })], 'it', 1],
    ['have another hash told', repeated('one', { 'repr-digest': `sha-256=:${digestOf('two')}:` }), 'another', 3],
    [
      'have a hash of another kind told',
      [() => download('one', { 'repr-digest': `sha-512=:${'A'.repeat(86)}==:` })],
      'it',
      1,
    ],
    ['differ twice', repeated('onE').slice(1), 'it', 3],
  ])('%s', async (_name, downloads, expected, count) => {
    expect((await lookAt(...downloads)).slice(0, 2)).toEqual([expected, count]);
  });

  it('differ for certain only where the service answers over the same connection', async () => {
    expect(await lookAt(...repeated('onE'))).toEqual(['another', 3, 'get 1']);
  });

  it('count as others only when the same come three times, within ten downloads', async () => {
    const each = (...texts: readonly string[]) => texts.map((text) => () => download(text));
    expect((await lookAt(...each('1xx', '2xx', '1xx', '2xx', '3xx', '3xx', '1xx'))).slice(0, 2)).toEqual([
      'another',
      7,
    ]);
    const many = ['1xx', '1xx', '2xx', '2xx', '3xx', '3xx', '4xx', '4xx', '5xx'];
    expect((await lookAt(...each(...many, '1xx'))).slice(0, 2)).toEqual(['another', 10]);
    expect((await lookAt(...each(...many, 'one'))).slice(0, 2)).toEqual(['it', 10]);
    const [message, count] = await lookAt(...each(...many, '5xx', 'one'));
    expect([message, count]).toEqual([
      expect.stringMatching(/^The content of document \d+ differs with each download\.$/),
      10,
    ]);
  });

  it('are read no further once they are too many', async () => {
    let read = 0;
    const long = async function* () {
      for (; read < 50; read++) yield Buffer.alloc(64 * 1024);
    };
    await lookAt(() => ({ status: 200, headers: {}, body: long() }));
    expect(read).toBeLessThan(5);
  });

  it('are not read again where they are known to differ, only for other bytes', async () => {
    const { server, stored, asked } = serverOf();
    server.add('a.pdf', PATIENT, 'two');
    const all = stored();
    await all.find(sought('a.pdf', 'one'));
    server.requests.length = 0;
    expect(await all.find(sought('a.pdf', 'one'))).toBeUndefined();
    expect(asked()).toEqual(['list']);
    expect(await all.find(sought('a.pdf', 'two'))).toBeDefined();
  });

  it('cannot be read where there is no link to them', async () => {
    const { server, stored } = serverOf();
    server.add('a.pdf', PATIENT, 'one');
    const { send } = server;
    for (const storage of [null, {}, { original: null }]) {
      Object.assign(server, {
        send: async (request: Parameters<typeof send>[0]) =>
          /\/documents\/\d/.test(request.url)
            ? download(JSON.stringify({ data: { id: 7, storage }, warnings: [], errors: [] }))
            : send(request),
      });
      await expect(stored().find(sought('a.pdf', 'one'))).rejects.toMatchObject({ exitCode: 8 });
    }
  });
});
