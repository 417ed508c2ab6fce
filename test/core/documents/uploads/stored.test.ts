import { describe, expect, it } from 'vitest';
import { documentLookUp } from '../../../../src/core/documents/uploads/stored.ts';
import { FakeServer } from '../fakeserver.ts';

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

  it('looks in the organization where nobody is named', async () => {
    const server = new FakeServer();
    const mine = server.add('a.pdf', 'ownerOrganization:org-1', 'one');
    expect(await look(server, body({ ownerPatient: undefined }))).toMatchObject({ id: mine.id });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a body without a file', { ...body(), file: undefined }],
    ['a type that is none', body({ mimeType: 'EXE' })],
    ['a name that is none', body({ name: 5 })],
  ])('is not there for %s', (_name, sent) => {
    expect(look(new FakeServer(), sent)).toBeUndefined();
  });
});
