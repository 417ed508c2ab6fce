import { describe, expect, it } from 'vitest';
import { FakeServer } from '../fakeserver.ts';
import { memorySource } from '../samples.ts';
import { holds, ready, run } from './uploading.ts';

describe('uploads that do not come through', () => {
  it('are refused by the server one by one', async () => {
    const server = new FakeServer();
    const post = server.send;
    const client = Object.assign(server, {
      send: async (request: Parameters<typeof post>[0]) =>
        request.method === 'POST' && request.headers['x-refuse'] === undefined && server.posts() === 1
          ? post({ ...request, method: 'GET', url: 'https://api.example.com/api/v1/documents/1' })
          : post(request),
    });
    const { outcomes } = await run(client, [ready('a.pdf', 'one'), ready('b.pdf', 'two')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['done', 'failed']);
    expect(outcomes[1]).toMatchObject({
      exitCode: 4,
      attempts: 1,
      error: expect.stringMatching(/^Not found \(HTTP 404\): What is wrong\. \[request [-\w]+\]$/),
    });
  });

  it('stop at once when the token is not accepted', async () => {
    const server = new FakeServer();
    const send = server.send;
    Object.assign(server, { send: (request: Parameters<typeof send>[0]) => send({ ...request, headers: {} }) });
    const { outcomes } = await run(server, [ready('a.pdf', 'one'), ready('b.pdf', 'two'), ready('c.pdf', 'three')]);
    expect(outcomes).toMatchObject([
      { status: 'failed', exitCode: 3, attempts: 1 },
      { status: 'pending', exitCode: 3, attempts: 0, error: expect.stringContaining('Not tried: ') },
      { status: 'pending', exitCode: 3, attempts: 0 },
    ]);
    expect(server.posts()).toBe(1);
  });

  it('stop after three files in a row that nothing answers', async () => {
    const server = new FakeServer();
    server.faults = Array.from({ length: 100 }, () => 'refuse-connection');
    const { outcomes } = await run(
      server,
      ['a', 'b', 'c', 'd', 'e'].map((name) => ready(`${name}.pdf`, name)),
    );
    expect(outcomes.map(({ status, exitCode, attempts }) => [status, exitCode, attempts])).toEqual([
      ['failed', 8, 6],
      ['failed', 8, 6],
      ['failed', 8, 6],
      ['pending', 8, 0],
      ['pending', 8, 0],
    ]);
  });

  it('are marked as unknown when the server cannot be asked what became of them', async () => {
    const server = new FakeServer();
    const send = server.send;
    let dead = false;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => {
        if (dead) return send({ ...request, url: 'https://api.example.com/api/v1/documents', headers: {} });
        dead = request.method === 'POST';
        return send(request);
      },
    });
    server.faults = ['cut-after'];
    const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
    expect(outcomes).toMatchObject([
      { status: 'unknown', error: expect.stringContaining('It may have been stored; the next run looks first.') },
    ]);
    dead = false;
    Object.assign(server, { send });
    const again = await run(server, [ready('a.pdf', 'one', { earlier: { status: 'unknown', attempts: 1 } })]);
    expect(again.outcomes).toMatchObject([{ status: 'done', attempts: 1, id: String(server.stored[0]?.id) }]);
    expect(server.posts()).toBe(1);
  });

  it('end at once when a file changes while it is sent, and nothing is stored', async () => {
    const server = new FakeServer();
    const planned = ready('a.pdf', 'one');
    if (planned.kind !== 'ready') throw new Error('not ready');
    const upload = { ...planned.upload, source: memorySource('a.pdf', Buffer.from('two')) };
    const { outcomes } = await run(server, [{ ...planned, upload }, ready('b.pdf', 'b')]);
    expect(outcomes).toMatchObject([
      { status: 'failed', exitCode: 9, attempts: 1, error: 'a.pdf changed while it was being read.' },
      { status: 'done' },
    ]);
    expect(holds(server)).toEqual(['b.pdf: b']);
  });

  it('are unknown or pending when the run is interrupted', async () => {
    const server = new FakeServer();
    const controller = new AbortController();
    const send = server.send;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => {
        const done = await send(request);
        if (server.posts() === 2) {
          controller.abort(new Error('interrupted'));
          throw new Error('aborted');
        }
        return done;
      },
    });
    const { outcomes } = await run(
      server,
      ['a', 'b', 'c'].map((name) => ready(`${name}.pdf`, name)),
      { signal: controller.signal },
    );
    expect(outcomes.map(({ status, exitCode }) => [status, exitCode])).toEqual([
      ['done', 0],
      ['unknown', 130],
      ['pending', 130],
    ]);
  });
});
