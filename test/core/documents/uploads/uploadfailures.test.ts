import { describe, expect, it } from 'vitest';
import { FakeServer, type Fault } from '../fakeserver.ts';
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
    const files = [ready('a.pdf', 'one'), ready('b.pdf', 'two'), ready('c.pdf', 'three')];
    const { outcomes, results } = await run(server, files);
    expect(outcomes).toMatchObject([
      { status: 'failed', exitCode: 3, attempts: 1 },
      { status: 'pending', exitCode: 3, attempts: 0, error: expect.stringContaining('Not tried: ') },
      { status: 'pending', exitCode: 3, attempts: 0 },
    ]);
    const failure = results[0]?.failure;
    expect(results.slice(1)).toMatchObject([1, 2].map(() => ({ repeated: false, failure })));
    expect(server.posts()).toBe(1);
  });

  it('keep the attempts of earlier runs where they are not tried', async () => {
    const server = new FakeServer();
    const send = server.send;
    Object.assign(server, { send: (request: Parameters<typeof send>[0]) => send({ ...request, headers: {} }) });
    const earlier = { status: 'failed', attempts: 4, elsewhere: false } as const;
    const { outcomes } = await run(server, [ready('a.pdf', 'one'), ready('b.pdf', 'two', { earlier })]);
    expect(outcomes[1]).toMatchObject({ status: 'pending', attempts: 4 });
  });

  it.each<[string, string]>([
    ['one that comes through', 'xxcxxcxxc'],
    ['one that fails by itself', 'xxfxxfxxf'],
  ])('go on after two in a row that nothing answers and %s', async (_name, script) => {
    const server = new FakeServer();
    const plan = [...script].map((what, index) => {
      const file = ready(`${index}.pdf`, `${index}`);
      return what === 'f' ? { ...file, upload: { ...file.upload, sha256: `not ${index}` } } : file;
    });
    const silence = Array<Fault>(6).fill('refuse-connection');
    server.faults = [...script].flatMap((what) => (what === 'x' ? silence : [undefined]));
    const { outcomes } = await run(server, plan);
    const expected = { x: 'failed 8', c: 'done 0', f: 'failed 9' };
    expect(outcomes.map(({ status, exitCode }) => `${status} ${exitCode}`)).toEqual(
      [...script].map((what) => expected[what as keyof typeof expected]),
    );
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
    const { outcomes, results } = await run(
      server,
      ['a', 'b', 'c'].map((name) => ready(`${name}.pdf`, name)),
      { signal: controller.signal },
    );
    expect(outcomes[2]?.error).toBeNull();
    expect(results[2]).not.toHaveProperty('failure');
    expect(outcomes.map(({ status, exitCode }) => [status, exitCode])).toEqual([
      ['done', 0],
      ['unknown', 130],
      ['pending', 130],
    ]);
  });
});
