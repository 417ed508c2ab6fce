import { StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import { uploadFile } from '../../../../src/core/documents/uploads/uploadfile.ts';
import { type JournalEntry, UploadJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import type { IncomingResponse, Send } from '../../../../src/core/transport/send.ts';
import { bytes, type FakeServer } from '../fakeserver.ts';
import type { ReadyFile } from './uploading.ts';

/** A journal of one file whose lines the test sees; `entry`: what an earlier run left. */
function journalOf(entry?: JournalEntry | 'begun', write: (state: string) => void = () => undefined) {
  const states: string[] = [];
  const journal = new UploadJournal(entry === undefined ? undefined : new Map(), async (line) => {
    const { state } = JSON.parse(line);
    write(state);
    states.push(state);
  });
  if (entry !== undefined && entry !== 'begun') journal.entryOf = () => entry;
  return { journal, states };
}

/** Uploads one file to a server; `states`: what the journal was told. */
export async function upload(
  server: FakeServer,
  file: ReadyFile,
  options: {
    readonly entry?: JournalEntry | 'begun';
    readonly write?: (state: string) => void;
    readonly signal?: AbortSignal;
    readonly stored?: StoredDocuments;
    /** What its POSTs end with, in place of what a server and the retries of the client make of them. */
    readonly post?: () => Promise<never>;
  } = {},
) {
  const { entry, write, signal } = options;
  const { journal, states } = journalOf(entry, write);
  const fetching = { ...server.fetching(), ...(signal && { signal }) };
  const progress = { sent: 0, skipped: [] as number[] };
  const client = server.client();
  if (options.post !== undefined) Object.assign(client, { request: options.post });
  const { outcome, document, repeated, failure } = await uploadFile(file.upload, {
    client,
    stored: options.stored ?? new StoredDocuments(server.client(), fetching),
    journal,
    ...(signal && { signal }),
    onBytes: (size) => {
      progress.sent += size;
    },
    onSkipped: (size) => void progress.skipped.push(size),
  });
  return { ...outcome, document, repeated, failure, states, ...progress };
}

/** Answers POSTs in place of a server; GETs are answered as before. */
export function answerPosts(
  server: FakeServer,
  answer: (request: Parameters<Send>[0]) => Promise<IncomingResponse>,
): void {
  const { send } = server;
  Object.assign(server, {
    send: async (request: Parameters<Send>[0]) => {
      if (request.method !== 'POST') return send(request);
      server.requests.push(request);
      return answer(request);
    },
  });
}

export const answered = (
  status: number,
  data: unknown,
  headers: IncomingResponse['headers'] = {},
): IncomingResponse => {
  const errors = status < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'Why.', source: null }];
  return { status, headers, body: bytes(JSON.stringify({ data, warnings: [], errors })) };
};

export const keysOf = (server: FakeServer) =>
  server.requests.flatMap(({ method, headers }) => (method === 'POST' ? headers['idempotency-key'] : []));
