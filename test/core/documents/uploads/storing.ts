import type { SoughtDocument } from '../../../../src/core/documents/uploads/documentmatch.ts';
import { StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import type { IncomingResponse } from '../../../../src/core/transport/send.ts';
import { bytes, FakeServer, sha256 } from '../fakeserver.ts';

/** A document of patient 5, as an upload knows it. */
export function sought(name: string, content: string, more: Partial<SoughtDocument> = {}): SoughtDocument {
  return {
    owner: { field: 'ownerPatient', id: '5' },
    storedName: name,
    fields: {},
    sha256: sha256(content),
    source: { size: content.length },
    ...more,
  };
}

export const PATIENT = 'ownerPatient:5';

/** A server and what is asked of it: `list` for all pages of one, `get 1` for its first document, `file 1` for the bytes. */
export function serverOf() {
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

export const download = (text: string, headers: IncomingResponse['headers'] = {}, status = 200) => ({
  status,
  headers,
  body: bytes(text),
});
export const gone = () => download('', {}, 404);
