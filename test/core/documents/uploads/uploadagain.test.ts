import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import type { EarlierOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { localFailure } from '../../../../src/core/failure.ts';
import { ApiFailure } from '../../../../src/core/transport/apifailure.ts';
import { ConnectionFailure, type Send } from '../../../../src/core/transport/send.ts';
import { bytes, FakeServer, type Fault } from '../fakeserver.ts';
import { answered, answerPosts, upload } from './onefile.ts';
import { holds, ready } from './uploading.ts';

const A = ready('a.pdf', 'one');

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
