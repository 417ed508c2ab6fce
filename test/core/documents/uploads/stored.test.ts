import { describe, expect, it } from 'vitest';
import { download, gone, PATIENT, serverOf, sought } from './storing.ts';

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
    for (const at of [0, 1, 2, 3, 4, 5]) {
      const { server, stored } = serverOf();
      // It would do where no other can be read.
      server.add('a.pdf', PATIENT, 'one', ['old']);
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
      const wanted = sought('a.pdf', 'one', { fields: { tags: ['new'] } });
      await expect(all.find(wanted)).rejects.toThrow('interrupted');
      expect(server.requests).toHaveLength(at + 1);
    }
  });
});
