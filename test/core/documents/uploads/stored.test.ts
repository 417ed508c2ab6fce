import { describe, expect, it } from 'vitest';
import type { SoughtDocument } from '../../../../src/core/documents/uploads/documentmatch.ts';
import { documentLookUp, StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import type { IncomingResponse } from '../../../../src/core/transport/send.ts';
import { bytes, FakeServer, sha256 } from '../fakeserver.ts';

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

/** A document of patient 5, as an upload knows it. */
function sought(name: string, content: string, more: Partial<SoughtDocument> = {}): SoughtDocument {
  return {
    owner: { field: 'ownerPatient', id: '5' },
    storedName: name,
    fields: {},
    sha256: sha256(content),
    source: { size: content.length },
    ...more,
  };
}

const PATIENT = 'ownerPatient:5';

/** A server and what is asked of it: `list` for all pages of one, `get 1` for its first document, `file 1` for the bytes. */
function serverOf() {
  const server = new FakeServer();
  const stored = (fetching = server.fetching()) => new StoredDocuments(server.client(), fetching);
  const number = (id: string | undefined) => 1 + server.stored.findIndex((file) => String(file.id) === id);
  const asked = () =>
    server.requests.flatMap(({ url }) => {
      const { pathname, searchParams } = new URL(url);
      if (Number(searchParams.get('lastId')) > 0) return [];
      const [, path, id] = /\/(files|documents)\/?(\d*)$/.exec(pathname) ?? [];
      return path === 'files' ? `file ${number(id)}` : id === '' ? 'list' : `get ${number(id)}`;
    });
  return { server, stored, asked };
}

const download = (text: string, headers: IncomingResponse['headers'] = {}, status = 200) => ({
  status,
  headers,
  body: bytes(text),
});
const gone = () => download('', {}, 404);

describe('finding the document of an upload', () => {
  it('reads those alone that have its name, and stops at the first that is it', async () => {
    const { server, stored, asked } = serverOf();
    server.add('b.pdf', PATIENT, 'one');
    server.add('a.pdf', PATIENT, 'one');
    server.add('a.pdf', PATIENT, 'one');
    expect(await stored().find(sought('a.pdf', 'one'))).toMatchObject({ id: server.stored[1]?.id });
    expect(asked()).toEqual(['list', 'get 2', 'file 2']);
  });

  it('asks for the names of all documents of its owner, as many at a time as there may be', async () => {
    const { server, stored } = serverOf();
    for (let count = 0; count < 7; count++) server.add('b.pdf', PATIENT, 'one');
    const mine = server.add('a.pdf', PATIENT, 'one');
    expect(await stored().find(sought('a.pdf', 'one'))).toMatchObject({ id: mine.id });
    const { searchParams } = new URL(server.requests[0]?.url ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      filter: 'ownerPatient.id==5',
      responseFields: 'id,name',
      pageSize: '500',
    });
  });

  it.each([undefined, null, 5])('reads a document whose name the list has as %j', async (name) => {
    const { server, stored } = serverOf();
    const mine = server.add('a.pdf', PATIENT, 'one');
    const { send } = server;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) =>
        new URL(request.url).searchParams.get('lastId') === '0'
          ? download(JSON.stringify({ data: [{ id: mine.id, name }], warnings: [], errors: [] }))
          : send(request),
    });
    expect(await stored().find(sought('a.pdf', 'one'))).toMatchObject({ id: mine.id });
  });

  it('looks first at the one that was noted, and only once', async () => {
    const { server, stored, asked } = serverOf();
    for (let count = 0; count < 3; count++) server.add('a.pdf', PATIENT, 'one');
    server.downloads = [gone];
    const noted = String(server.stored[2]?.id);
    expect(await stored().find(sought('a.pdf', 'one'), { noted })).toMatchObject({ id: server.stored[0]?.id });
    expect(asked()).toEqual(['get 3', 'file 3', 'list', 'get 1', 'file 1']);
    server.downloads = [gone, gone, gone];
    server.requests.length = 0;
    await expect(stored().find(sought('a.pdf', 'one'), { noted })).rejects.toMatchObject({ status: 404 });
    expect(asked()).toEqual(['get 3', 'file 3', 'list', 'get 1', 'file 1', 'get 2', 'file 2']);
  });

  it('takes the one that was noted whatever its name, but not that of another owner, nor one that is gone', async () => {
    const { server, stored } = serverOf();
    const [renamed, other] = [server.add('x.pdf', PATIENT, 'one'), server.add('a.pdf', 'ownerPatient:6', 'one')];
    const find = (noted: string) => stored().find(sought('a.pdf', 'one'), { noted });
    expect(await find(String(renamed.id))).toMatchObject({ id: renamed.id });
    expect(await find(String(other.id))).toBeUndefined();
    expect(await find('4')).toBeUndefined();
  });

  it('takes no document twice, but its own again', async () => {
    const { server, stored } = serverOf();
    const [first, second, third] = [1, 2, 3].map(() => server.add('a.pdf', PATIENT, 'one'));
    const all = stored();
    const files = [sought('a.pdf', 'one'), sought('a.pdf', 'one'), sought('a.pdf', 'one')];
    all.claim(String(first?.id));
    expect(await all.find(files[0]!)).toMatchObject({ id: second?.id });
    expect(await all.find(files[1]!)).toMatchObject({ id: third?.id });
    expect(await all.find(files[2]!)).toBeUndefined();
    expect(await all.find(files[0]!)).toMatchObject({ id: second?.id });
    expect(await all.find(files[2]!, { noted: String(first?.id) })).toBeUndefined();
  });

  describe('with tags', () => {
    const wanted = sought('a.pdf', 'one', { fields: { tags: ['new'] } });

    it.each<[string, readonly string[][], number | undefined, number | undefined]>([
      ['the only one with them', [['old'], ['new'], ['old']], 2, 2],
      ['the first with others where none has them', [['old'], ['older']], 1, undefined],
    ])('takes %s', async (_name, tags, number, exact) => {
      const { server, stored } = serverOf();
      for (const each of tags) server.add('a.pdf', PATIENT, 'one', each);
      const numberOf = (found: { readonly id?: unknown } | undefined) =>
        found && 1 + server.stored.findIndex(({ id }) => id === found.id);
      expect(numberOf(await stored().find(wanted))).toBe(number);
      expect(numberOf(await stored().find(wanted, { exact: true }))).toBe(exact);
    });

    it('claims the one that it takes, with them or with others', async () => {
      for (const tags of [['new'], ['old']]) {
        const { server, stored } = serverOf();
        server.add('a.pdf', PATIENT, 'one', tags);
        const all = stored();
        expect(await all.find(wanted)).toBeDefined();
        expect(await all.find({ ...wanted })).toBeUndefined();
      }
    });

    it('does not claim one with others that it must not take', async () => {
      const { server, stored } = serverOf();
      server.add('a.pdf', PATIENT, 'one', ['old']);
      const all = stored();
      expect(await all.find(wanted, { exact: true })).toBeUndefined();
      expect(await all.find(sought('a.pdf', 'one'))).toBeDefined();
    });

    it('takes one with others beside one that cannot be read, unless it must not', async () => {
      const { server, stored } = serverOf();
      server.add('a.pdf', PATIENT, 'one', ['new']);
      const other = server.add('a.pdf', PATIENT, 'one', ['old']);
      server.downloads = [gone];
      expect(await stored().find(wanted)).toMatchObject({ id: other.id });
      server.downloads = [gone];
      await expect(stored().find(wanted, { exact: true })).rejects.toMatchObject({ status: 404 });
    });
  });

  it('fails as the first document does that cannot be read', async () => {
    const { server, stored } = serverOf();
    for (let count = 0; count < 2; count++) server.add('a.pdf', PATIENT, 'one');
    server.downloads = [() => download('', {}, 410), gone];
    await expect(stored().find(sought('a.pdf', 'one'))).rejects.toMatchObject({ status: 410 });
  });

  it('fails where the list cannot be read, and reads it anew the next time', async () => {
    const { server, stored } = serverOf();
    const mine = server.add('a.pdf', PATIENT, 'one');
    const { send } = server;
    let isBroken = true;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => send(isBroken ? { ...request, headers: {} } : request),
    });
    const all = stored();
    await expect(all.find(sought('a.pdf', 'one'))).rejects.toMatchObject({ status: 401 });
    isBroken = false;
    expect(await all.find(sought('a.pdf', 'one'))).toMatchObject({ id: mine.id });
  });

  it('lists the documents of an owner once for all that look at the same time, not for those that look later', async () => {
    const { server, stored, asked } = serverOf();
    const all = stored();
    const lists = () => asked().filter((each) => each === 'list').length;
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => all.find(sought(`${name}.pdf`, 'one'))));
    expect(lists()).toBe(1);
    const mine = server.add('a.pdf', PATIENT, 'one');
    expect(await all.find(sought('a.pdf', 'one'))).toMatchObject({ id: mine.id });
    const six = { owner: { field: 'ownerPatient', id: '6' } } as const;
    await Promise.all([all.find(sought('b.pdf', 'one')), all.find(sought('b.pdf', 'one', six))]);
    expect(lists()).toBe(4);
  });

  it('ends with the reason why it is interrupted, whatever it was doing', async () => {
    for (const at of [0, 1, 2, 3]) {
      const { server, stored } = serverOf();
      server.add('a.pdf', PATIENT, 'two');
      server.add('a.pdf', PATIENT, 'two');
      const controller = new AbortController();
      const { send } = server;
      Object.assign(server, {
        send: async (request: Parameters<typeof send>[0]) => {
          if (server.requests.length === at) controller.abort(new Error('interrupted'));
          return send(request);
        },
      });
      const all = stored({ ...server.fetching(), signal: controller.signal });
      await expect(all.find(sought('a.pdf', 'one'))).rejects.toThrow('interrupted');
      expect(server.requests).toHaveLength(at + 1);
    }
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
