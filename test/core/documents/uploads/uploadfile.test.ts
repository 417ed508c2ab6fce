import { describe, expect, it } from 'vitest';

import { keyOf } from '../../../../src/core/documents/uploads/plan.ts';
import { StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import { uploadFile } from '../../../../src/core/documents/uploads/uploadfile.ts';
import { type JournalEntry, UploadJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import type { EarlierOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { localFailure } from '../../../../src/core/failure.ts';
import { ApiFailure } from '../../../../src/core/transport/apifailure.ts';
import { ConnectionFailure, type IncomingResponse, type Send } from '../../../../src/core/transport/send.ts';
import { bytes, FakeServer, type Fault } from '../fakeserver.ts';
import { holds, type ReadyFile, ready } from './uploading.ts';

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
async function upload(
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
function answerPosts(server: FakeServer, answer: (request: Parameters<Send>[0]) => Promise<IncomingResponse>): void {
  const { send } = server;
  Object.assign(server, {
    send: async (request: Parameters<Send>[0]) => {
      if (request.method !== 'POST') return send(request);
      server.requests.push(request);
      return answer(request);
    },
  });
}

const answered = (status: number, data: unknown, headers: IncomingResponse['headers'] = {}): IncomingResponse => {
  const errors = status < 300 ? [] : [{ code: 'some.code', title: 'Title', description: 'Why.', source: null }];
  return { status, headers, body: bytes(JSON.stringify({ data, warnings: [], errors })) };
};

const keysOf = (server: FakeServer) =>
  server.requests.flatMap(({ method, headers }) => (method === 'POST' ? headers['idempotency-key'] : []));

const A = ready('a.pdf', 'one');

describe('one file', () => {
  it('is noted, sent and noted again', async () => {
    const server = new FakeServer();
    const done = await upload(server, A);
    expect(done).toMatchObject({ status: 'done', attempts: 1, repeated: false, states: ['sending', 'stored'] });
    expect(done.document).toMatchObject({ id: server.stored[0]?.id, name: 'a.pdf' });
    expect(done.failure).toBeUndefined();
    expect(keysOf(server)).toEqual([keyOf(A.upload, server.client(), 0)]);
    expect(done).toMatchObject({ sent: 3, skipped: [0] });
  });

  it('counts the attempts of earlier runs', async () => {
    const server = new FakeServer();
    server.faults = ['refuse-connection'];
    const earlier: EarlierOutcome = { status: 'failed', attempts: 3 };
    expect(await upload(server, ready('a.pdf', 'one', { earlier }), { entry: 'begun' })).toMatchObject({ attempts: 5 });
  });

  it('counts the bytes of its last attempt, whatever was sent before', async () => {
    const server = new FakeServer();
    server.faults = ['cut-before', 'refuse-connection', 500];
    expect(await upload(server, A)).toMatchObject({ status: 'done', attempts: 4, sent: 3, skipped: [0] });
  });

  it('has the name that the server gave it, or would give it', async () => {
    for (const [name, expected] of [
      ['b.pdf', 'b.pdf'],
      [undefined, 'a.pdf'],
      [5, 'a.pdf'],
    ] as const) {
      const server = new FakeServer();
      answerPosts(server, async () => answered(201, { id: 7, name }));
      expect(await upload(server, A)).toMatchObject({ status: 'done', id: '7', storedName: expected });
    }
  });

  it("is nobody else's document from then on", async () => {
    const server = new FakeServer();
    const stored = new StoredDocuments(server.client(), server.fetching());
    await upload(server, A, { stored });
    expect(await stored.find({ ...A.upload })).toBeUndefined();
    expect(await stored.find(A.upload)).toBeDefined();
  });

  it('is done though the end of it cannot be noted', async () => {
    const server = new FakeServer();
    const write = (state: string) => {
      if (state === 'stored') throw new Error('disk full');
    };
    expect(await upload(server, A, { write })).toMatchObject({ status: 'done', error: null, exitCode: 0 });
  });

  it('is refused though that cannot be noted', async () => {
    const server = new FakeServer();
    answerPosts(server, async () => answered(404, null));
    const write = (state: string) => {
      if (state === 'refused') throw new Error('disk full');
    };
    expect(await upload(server, A, { write })).toMatchObject({ status: 'failed', exitCode: 4, skipped: [3] });
  });

  it('fails with the request to ask about, where there was one', async () => {
    const server = new FakeServer();
    answerPosts(server, async () => answered(404, null));
    const { error, failure } = await upload(server, A);
    expect(failure?.requestId).toMatch(/^[-\w]+$/);
    expect(error).toBe(`${failure?.message} [request ${failure?.requestId}]`);
    const changed = await upload(new FakeServer(), { ...A, upload: { ...A.upload, sha256: '0' } });
    expect(changed.error).toBe('a.pdf changed while it was being read.');
  });

  it.each([0, -1, 1.5, 'x', '', '07', null])('is not taken for a document of id %j', async (id) => {
    const server = new FakeServer();
    answerPosts(server, async () => answered(201, { id }));
    const ended = await upload(server, A);
    expect(ended).toMatchObject({ id: null, exitCode: 8, states: expect.arrayContaining(['sending']) });
    expect(ended.failure?.requestId).toMatch(/^[-\w]+$/);
    expect(ended.states).not.toContain('stored');
    expect(ended.status).not.toBe('done');
  });
});

describe('a file that the server has answered about before', () => {
  const replayed = { 'idempotency-replayed': 'true' };

  it('is repeated, unless this run itself had sent it', async () => {
    const server = new FakeServer();
    await upload(server, A);
    expect(await upload(server, A)).toMatchObject({ status: 'done', repeated: true, attempts: 1, skipped: [0] });
    server.faults = ['refuse-connection'];
    expect(await upload(server, A)).toMatchObject({ status: 'done', repeated: false, attempts: 2 });
  });

  it('is shown as it is now, and asked for only then', async () => {
    const server = new FakeServer();
    const now = server.add('renamed.pdf', 'ownerPatient:5', 'one');
    for (const [headers, name] of [
      [replayed, 'renamed.pdf'],
      [{ 'idempotency-replayed': 'false' }, 'then.pdf'],
    ] as const) {
      answerPosts(server, async () => answered(201, { id: now.id, name: 'then.pdf' }, headers));
      expect(await upload(server, A)).toMatchObject({ storedName: name, document: { name } });
    }
  });

  it('is sent with another key each time its document was deleted, eight times at most', async () => {
    for (const [deleted, posts] of [
      [7, 8],
      [8, 8],
    ] as const) {
      const server = new FakeServer();
      let asked = 0;
      answerPosts(server, async () => answered(201, { id: 7 }, ++asked > deleted ? {} : replayed));
      const ended = await upload(server, A);
      expect(ended.states.filter((state) => state === 'sending')).toHaveLength(posts);
      expect(ended).toMatchObject(
        deleted < posts
          ? { status: 'done', id: '7', attempts: 8, repeated: false }
          : { status: 'failed', exitCode: 8, attempts: 8, failure: { code: 'response.malformed' } },
      );
      expect(keysOf(server)).toEqual(Array.from({ length: posts }, (_, at) => keyOf(A.upload, server.client(), at)));
    }
  });

  it('is in doubt no more when it is found to be deleted', async () => {
    const server = new FakeServer();
    answerPosts(server, async () => answered(201, { id: 7 }, replayed));
    const write = () => {
      if (server.posts() === 1) throw new Error('disk full');
    };
    expect(await upload(server, A, { write })).toMatchObject({ status: 'failed', attempts: 1 });
  });
});

describe('a key that was used with another body', () => {
  const tagged = ready('a.pdf', 'one', { tags: ['new'] });

  it('is that of a document with other tags, which is told and changed by nobody', async () => {
    const server = new FakeServer();
    await upload(server, A);
    const ended = await upload(server, tagged);
    expect(ended).toMatchObject({
      status: 'failed',
      exitCode: 5,
      failure: { code: 'field.conflict', hint: expect.stringContaining(`documents update ${server.stored[0]?.id}`) },
      // It is stored: the next run looks for it.
      states: ['sending'],
      attempts: 1,
      document: undefined,
    });
  });

  it('is given up for the next where the document is gone', async () => {
    const server = new FakeServer();
    await upload(server, A);
    server.remove(server.stored[0]!.id);
    const ended = await upload(server, tagged);
    expect(ended).toMatchObject({ status: 'done', attempts: 2, states: ['sending', 'sending', 'stored'] });
    expect(new Set(keysOf(server)).size).toBe(2);
    expect(server.stored).toMatchObject([{ name: 'a.pdf', tags: ['new'] }]);
  });

  it('is one whatever else the server has to say', async () => {
    const server = new FakeServer();
    server.add('a.pdf', 'ownerPatient:5', 'one', ['old']);
    const problem = (source: string | null) => ({ code: 'some.code', description: 'Why.', source });
    const problems = [problem(null), problem('Idempotency-Key'), problem('name')];
    const post = () => Promise.reject(new ApiFailure(400, problems, null));
    expect(await upload(server, tagged, { post })).toMatchObject({ exitCode: 5, states: ['sending'] });
  });

  it('leaves no doubt, and no refusal, where the look fails', async () => {
    const server = new FakeServer();
    await upload(server, A);
    server.downloads = [() => ({ status: 403, headers: {}, body: bytes('') })];
    expect(await upload(server, tagged)).toMatchObject({ status: 'failed', states: ['sending'] });
  });
});

describe('a file of which an earlier run knows', () => {
  /** A server that tells nobody what it has: a list fails at once. */
  function silent(): FakeServer {
    const server = new FakeServer();
    const { send } = server;
    Object.assign(server, {
      send: async (request: Parameters<Send>[0]) =>
        send(request.method === 'GET' ? { ...request, headers: {} } : request),
    });
    return server;
  }

  it.each<[string, EarlierOutcome | undefined, JournalEntry | 'begun' | undefined, string]>([
    ['was being sent', undefined, { state: 'sending' }, 'unknown'],
    ['was being sent, and failed', { status: 'failed', attempts: 1 }, { state: 'sending' }, 'unknown'],
    ['failed, and the journal is lost', { status: 'failed', attempts: 1 }, undefined, 'failed'],
    ['failed elsewhere', { status: 'failed', attempts: 1, elsewhere: true }, 'begun', 'failed'],
    ['was pending, and the journal is lost', { status: 'pending', attempts: 1 }, undefined, 'unknown'],
    ['was in doubt', { status: 'unknown', attempts: 1 }, 'begun', 'unknown'],
    ['was refused, and is in doubt', { status: 'unknown', attempts: 1 }, { state: 'refused' }, 'unknown'],
    ['was stored', undefined, { state: 'stored', id: '7' }, 'failed'],
  ])('is not sent while the server cannot be asked: it %s', async (_name, earlier, entry, status) => {
    const server = silent();
    const file = ready('a.pdf', 'one', { ...(earlier && { earlier }) });
    const ended = await upload(server, file, { ...(entry && { entry }) });
    expect(ended).toMatchObject({ status, exitCode: 3, attempts: earlier?.attempts ?? 0, states: [], skipped: [3] });
    expect(ended.error?.includes(' It may have been stored; the next run looks first.')).toBe(status === 'unknown');
    expect(server.posts()).toBe(0);
  });

  it.each<[string, EarlierOutcome | undefined, JournalEntry | 'begun']>([
    ['nothing', undefined, 'begun'],
    ['it was refused', { status: 'failed', attempts: 1 }, { state: 'refused' }],
    ['it failed before it was sent', { status: 'failed', attempts: 1 }, 'begun'],
    ['it was not tried', { status: 'pending', attempts: 0 }, 'begun'],
  ])('is sent at once where its journal knows: %s', async (_name, earlier, entry) => {
    const server = silent();
    const file = ready('a.pdf', 'one', { ...(earlier && { earlier }) });
    expect(await upload(server, file, { entry })).toMatchObject({ status: 'done', states: ['sending', 'stored'] });
  });

  it('is repeated where it is found, and noted as stored', async () => {
    const server = new FakeServer();
    const { id } = server.add('a.pdf', 'ownerPatient:5', 'one');
    const earlier: EarlierOutcome = { status: 'unknown', attempts: 2 };
    expect(await upload(server, ready('a.pdf', 'one', { earlier }))).toMatchObject({
      ...{ status: 'done', id: String(id), attempts: 2, repeated: true, states: ['stored'], skipped: [3], sent: 0 },
    });
  });

  it('is in doubt no more when it is not found', async () => {
    const server = new FakeServer();
    const write = () => {
      throw new Error('disk full');
    };
    expect(await upload(server, A, { entry: { state: 'sending' }, write })).toMatchObject({
      status: 'failed',
      exitCode: 1,
      error: 'Error: disk full',
    });
  });

  it('is not stored otherwise where the journal knows its document', async () => {
    const server = new FakeServer();
    const { id } = server.add('a.pdf', 'ownerPatient:5', 'one', ['old']);
    const file = ready('a.pdf', 'one', { tags: ['new'] });
    expect(await upload(server, file, { entry: { state: 'stored', id: String(id) } })).toMatchObject({
      ...{ status: 'failed', exitCode: 5, states: [], skipped: [3] },
      error: `It is stored already as document ${id} with other tags, date or crop.`,
    });
    expect(server.posts()).toBe(0);
  });

  it('is looked for by the id that was noted', async () => {
    const server = new FakeServer();
    server.add('a.pdf', 'ownerPatient:5', 'one');
    const { id } = server.add('b.pdf', 'ownerPatient:5', 'one');
    const earlier: EarlierOutcome = { status: 'unknown', id: String(id), attempts: 1 };
    expect(await upload(server, ready('a.pdf', 'one', { earlier }))).toMatchObject({ id: String(id) });
  });
});

describe('what is known of a file that failed', () => {
  it.each<[string, (Fault | undefined)[] | number, object]>([
    ['nothing answers', Array(6).fill('refuse-connection'), { status: 'failed', exitCode: 8, states: ['sending'] }],
    ['it was looked for', Array(6).fill('cut-before'), { status: 'failed', exitCode: 8, states: ['sending'] }],
    ['400', 400, { status: 'failed', exitCode: 5, states: ['sending', 'refused'] }],
    ['403', 403, { status: 'failed', exitCode: 3, states: ['sending', 'refused'] }],
    ['404', 404, { status: 'failed', exitCode: 4, states: ['sending', 'refused'] }],
    ['409', 409, { states: ['sending'] }],
    ['413', 413, { status: 'failed', states: ['sending', 'refused'] }],
    ['499', 499, { status: 'failed', states: ['sending', 'refused'] }],
    ['500', Array(6).fill(500), { status: 'failed', exitCode: 8, states: ['sending'] }],
  ])('%s', async (_name, what, expected) => {
    const server = new FakeServer();
    if (typeof what === 'number') answerPosts(server, async () => answered(what, null));
    else server.faults = what as Fault[];
    expect(await upload(server, A)).toMatchObject(expected);
    expect(holds(server)).toEqual([]);
  });

  it.each<[unknown, string, readonly string[]]>([
    [new ApiFailure(499, [], null), 'failed', ['sending', 'refused']],
    [new ApiFailure(500, [], null), 'failed', ['sending']],
    [new ApiFailure(503, [], null), 'failed', ['sending']],
    [new ApiFailure(408, [], null), 'failed', ['sending']],
    [new ApiFailure(409, [], null), 'failed', ['sending']],
    [localFailure('network.unreachable', 'Nothing answers.'), 'failed', ['sending']],
    [localFailure('network.outcome_unknown', 'It may have been done.'), 'unknown', ['sending']],
    [new Error('broken'), 'unknown', ['sending']],
  ])('is not that it was refused where that is open, though nobody looked: %s', async (cause, status, states) => {
    const post = () => Promise.reject(cause);
    expect(await upload(new FakeServer(), A, { post })).toMatchObject({ status, states, repeated: false, attempts: 1 });
  });

  it('is the cause of what broke', async () => {
    const broken = new Error('broken');
    const { failure } = await upload(new FakeServer(), A, { post: () => Promise.reject(broken) });
    expect(failure).toMatchObject({ code: 'run.unexpected', message: 'Error: broken', cause: broken });
    const stop = new Error('stop');
    const interrupted = await upload(new FakeServer(), A, { signal: AbortSignal.abort(stop) });
    expect(interrupted.failure).toMatchObject({ code: 'run.interrupted', cause: stop });
  });

  it('is not that it was refused, once an attempt before may have been done', async () => {
    const server = new FakeServer();
    answerPosts(server, async () => {
      if (server.posts() === 1) throw new ConnectionFailure('The connection was cut.', { sent: true });
      return answered(404, null);
    });
    expect(await upload(server, A)).toMatchObject({ status: 'failed', exitCode: 4, states: ['sending'] });
  });

  it('is that it may be stored, where the look after it failed', async () => {
    const server = new FakeServer();
    server.faults = ['cut-after'];
    server.downloads = [() => ({ status: 410, headers: {}, body: bytes('') })];
    expect(await upload(server, A)).toMatchObject({
      ...{ status: 'unknown', exitCode: 8, id: null, states: ['sending'] },
      error: expect.stringMatching(/ It may have been stored; the next run looks first\.( \[request .*\])?$/),
    });
  });
});

describe('a file whose run is interrupted', () => {
  it('is pending where it was not sent', async () => {
    const server = new FakeServer();
    const signal = AbortSignal.abort(new Error('stop'));
    expect(await upload(server, A, { signal })).toMatchObject({
      ...{ status: 'pending', exitCode: 130, error: 'Interrupted.', attempts: 0, states: [], skipped: [3] },
      failure: { code: 'run.interrupted' },
    });
  });

  it('has the exit code of what interrupted it', async () => {
    const signal = AbortSignal.abort(localFailure('run.terminated', 'Terminated.'));
    expect(await upload(new FakeServer(), A, { signal })).toMatchObject({ status: 'pending', exitCode: 143 });
  });

  it('is in doubt where it was being sent, and is not sent again', async () => {
    const server = new FakeServer();
    const controller = new AbortController();
    answerPosts(server, async () => {
      controller.abort(localFailure('run.terminated', 'Terminated.'));
      throw new ConnectionFailure('The connection was cut.', { sent: true });
    });
    expect(await upload(server, A, { signal: controller.signal })).toMatchObject({
      ...{ status: 'unknown', exitCode: 143, attempts: 1, states: ['sending'] },
    });
    expect(server.posts()).toBe(1);
  });

  it('is in doubt where it was looked for', async () => {
    const server = new FakeServer();
    const controller = new AbortController();
    const { send } = server;
    Object.assign(server, {
      send: async (request: Parameters<Send>[0]) => {
        if (request.method === 'GET') controller.abort(new Error('stop'));
        return send(request);
      },
    });
    const { signal } = controller;
    expect(await upload(server, A, { signal, entry: { state: 'sending' } })).toMatchObject({
      ...{ status: 'unknown', exitCode: 130, states: [] },
    });
  });
});
