import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../../src/core/documents/uploads/plan.ts';
import { StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import type { EarlierOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { ApiFailure } from '../../../../src/core/transport/apifailure.ts';
import { bytes, FakeServer } from '../fakeserver.ts';
import { answered, answerPosts, keysOf, upload } from './onefile.ts';
import { ready } from './uploading.ts';

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
