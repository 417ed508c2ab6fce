import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import type { EarlierOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { bytes, FakeServer, type Fault } from '../fakeserver.ts';
import { holds, ready, run } from './uploading.ts';

describe('uploading files', () => {
  it('stores each once and says where', async () => {
    const server = new FakeServer();
    const { outcomes, results, settled } = await run(server, [
      ready('a.pdf', 'one'),
      ready('b/a.pdf', 'two', { name: 'a' }),
    ]);
    expect(holds(server)).toEqual(['a.pdf: one', 'a (1).pdf: two']);
    expect(outcomes).toEqual([
      { status: 'done', id: String(server.stored[0]?.id), storedName: 'a.pdf', attempts: 1, error: null, exitCode: 0 },
      {
        status: 'done',
        id: String(server.stored[1]?.id),
        storedName: 'a (1).pdf',
        attempts: 1,
        error: null,
        exitCode: 0,
      },
    ]);
    expect(results.map(({ document }) => document?.id)).toEqual(server.stored.map(({ id }) => id));
    expect(settled).toEqual([0, 1]);
  });

  it('sends the same key in every run, and another for other content, owner, name, server', async () => {
    const keyOf = async (plan: PlannedUpload) => {
      const server = new FakeServer();
      await run(server, [plan]);
      return server.requests[0]?.headers['idempotency-key'];
    };
    const keys = await Promise.all([
      keyOf(ready('a.pdf', 'one')),
      keyOf(ready('b.pdf', 'one')),
      keyOf(ready('a.pdf', 'two')),
      keyOf(ready('a.pdf', 'one', { patient: '6' })),
    ]);
    expect(new Set(keys).size).toBe(4);
    expect(keys[0]).toBe(await keyOf(ready('a.pdf', 'one', { tags: ['other'] })));
    expect(keys[0]).toMatch(/^molar-[0-9a-f]{64}$/);
  });

  it('does not store a file again that an earlier run of the same line stored', async () => {
    const server = new FakeServer();
    await run(server, [ready('a.pdf', 'one')]);
    const { results } = await run(server, [ready('a.pdf', 'one')]);
    expect(holds(server)).toEqual(['a.pdf: one']);
    expect(results[0]).toMatchObject({
      repeated: true,
      document: { id: server.stored[0]?.id },
      outcome: { status: 'done' },
    });
  });

  it('stores a file again whose document was deleted', async () => {
    const server = new FakeServer();
    for (let round = 0; round < 3; round++) {
      await run(server, [ready('a.pdf', 'one')]);
      expect(holds(server)).toEqual(['a.pdf: one']);
      if (round < 2) server.remove(server.stored[0]!.id);
    }
  });

  it('says which document has the file when only the tags are new', async () => {
    const server = new FakeServer();
    await run(server, [ready('a.pdf', 'one')]);
    const { outcomes } = await run(server, [ready('a.pdf', 'one', { tags: ['new'] })]);
    const { id } = server.stored[0]!;
    expect(outcomes).toMatchObject([
      { status: 'failed', exitCode: 5, error: `It is stored already as document ${id} with other tags, date or crop.` },
    ]);
    expect(holds(server)).toEqual(['a.pdf: one']);
  });

  it('says so too when an earlier run noted the file', async () => {
    const server = new FakeServer();
    const { id } = server.add('a.pdf', 'ownerPatient:5', 'one', ['Old', 'added since']);
    const earlier: EarlierOutcome = { status: 'unknown', id: String(id), attempts: 1 };
    const { outcomes } = await run(server, [ready('a.pdf', 'one', { tags: ['old', 'new'], earlier })]);
    expect(outcomes).toMatchObject([
      { status: 'failed', exitCode: 5, error: expect.stringContaining(`as document ${id}`) },
    ]);
    const again = await run(server, [ready('a.pdf', 'one', { tags: ['OLD'], earlier })]);
    expect(again.outcomes).toMatchObject([{ status: 'done', id: String(id) }]);
    expect(server.posts()).toBe(0);
  });

  it.each<[string, Fault[], number]>([
    ['no connection', ['refuse-connection'], 2],
    ['cut before it was done', ['cut-before'], 2],
    ['cut after it was done', ['cut-after'], 1],
    ['an answer cut short', ['half-answer'], 1],
    ['an answer without a record', ['no-record-after'], 1],
    ['a page of HTML before', ['page'], 2],
    ['a page of HTML after', ['page-after'], 1],
    ['a timeout before', [408], 2],
    ['a timeout after', ['408-after'], 1],
    ['a gateway that gives up before', [502, 504], 3],
    ['a gateway that gives up after', ['504-after'], 1],
    ['a gateway without an answer after', ['502-after'], 1],
    ['a server that is not ready before', [503], 2],
    ['a server that is not ready after', ['503-after'], 1],
    ['a server that fails before', [500, 500], 3],
    ['a server that fails after', ['500-after'], 1],
    ['one trouble after another', ['cut-before', 504, 'refuse-connection', 502, 'cut-after'], 5],
  ])('stores once, key or no key, ids rising or falling, with %s', async (_, faults, attempts) => {
    for (const [keys, falling] of [
      [true, false],
      [false, false],
      [false, true],
    ] as const) {
      const server = new FakeServer();
      Object.assign(server, { keys, falling });
      server.add('a.pdf', 'ownerPatient:5', 'another');
      server.faults = [...faults];
      const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
      expect(holds(server), String(keys)).toEqual(['a.pdf: another', 'a (1).pdf: one']);
      expect(outcomes, String(keys)).toEqual([
        {
          status: 'done',
          id: String(server.stored[1]?.id),
          storedName: 'a (1).pdf',
          attempts,
          error: null,
          exitCode: 0,
        },
      ]);
    }
  });

  it('is stored once when it is there only a moment after the look', async () => {
    const server = new FakeServer();
    server.keys = false;
    const { send } = server;
    let lists = 0;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => {
        const answered = await send(request);
        // What the cut POST brought is stored behind the first look.
        const isEnd = request.method === 'GET' && server.stored.length === 0;
        if (isEnd && ++lists === 1) server.add('a.pdf', 'ownerPatient:5', 'one');
        return answered;
      },
    });
    server.faults = ['cut-before'];
    const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
    expect(outcomes).toMatchObject([{ status: 'done', attempts: 1 }]);
    expect(server.posts()).toBe(1);
  });

  it('is not taken for a document with other tags that was there before', async () => {
    const server = new FakeServer();
    server.keys = false;
    server.add('a.pdf', 'ownerPatient:5', 'one', ['old']);
    server.faults = ['cut-before'];
    await run(server, [ready('a.pdf', 'one', { tags: ['new'] })]);
    expect(server.stored.map(({ name, tags }) => [name, tags])).toEqual([
      ['a.pdf', ['old']],
      ['a (1).pdf', ['new']],
    ]);
  });

  it('stays unknown, and is not sent again, while a document that may be it cannot be read', async () => {
    for (const status of [403, 404, 410]) {
      const server = new FakeServer();
      server.keys = false;
      server.downloads = [() => ({ status, headers: {}, body: bytes('') })];
      server.faults = ['cut-after'];
      const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
      expect(outcomes, String(status)).toMatchObject([{ status: 'unknown', exitCode: 8, attempts: 1 }]);
      expect(server.posts(), String(status)).toBe(1);
    }
  });

  it('is found beside a document that cannot be read', async () => {
    const server = new FakeServer();
    server.keys = false;
    server.add('a.pdf', 'ownerPatient:5', 'another');
    server.downloads = [() => ({ status: 404, headers: {}, body: bytes('') })];
    server.faults = ['cut-after'];
    const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
    expect(outcomes).toMatchObject([{ status: 'done', id: String(server.stored[1]?.id) }]);
  });

  it('asks for nothing but the POST while nothing goes wrong', async () => {
    const server = new FakeServer();
    await run(server, [ready('a.pdf', 'one'), ready('b.pdf', 'two')]);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  it('looks on the server when the last of all attempts failed after it was done', async () => {
    const server = new FakeServer();
    server.faults = [500, 500, 500, 500, 500, '500-after'];
    const { outcomes } = await run(server, [ready('a.pdf', 'one')]);
    expect(outcomes).toMatchObject([{ status: 'done', attempts: 6 }]);
    expect(holds(server)).toEqual(['a.pdf: one']);
  });

  it('never takes a document of another file, owner or name for its own', async () => {
    const server = new FakeServer();
    server.keys = false;
    server.add('a.pdf', 'ownerPatient:6', 'one');
    server.add('ab.pdf', 'ownerPatient:5', 'one');
    server.add('a (x).pdf', 'ownerPatient:5', 'one');
    server.add('a.pdf', 'ownerPatient:5', 'onE');
    server.faults = ['cut-before'];
    await run(server, [ready('a.pdf', 'one')]);
    expect(server.stored).toHaveLength(5);
    expect(server.stored[4]).toMatchObject({ name: 'a (1).pdf', owner: 'ownerPatient:5', content: Buffer.from('one') });
  });

  it('keeps files with the same bytes apart', async () => {
    const server = new FakeServer();
    server.keys = false;
    server.faults = ['cut-after', 'cut-before', 'cut-after'];
    await run(server, [ready('a.pdf', 'one'), ready('a (1).pdf', 'one'), ready('b.pdf', 'one')], { concurrency: 3 });
    expect(holds(server)).toEqual(['a.pdf: one', 'a (1).pdf: one', 'b.pdf: one']);
  });

  it('stores each file exactly once whatever happens, in as many runs as it takes', async () => {
    const faults: (Fault | undefined)[] = [
      undefined,
      undefined,
      'refuse-connection',
      'cut-before',
      'cut-after',
      'half-answer',
      'page-after',
      'no-record-after',
      408,
      500,
      '500-after',
      502,
      '503-after',
      504,
      '504-after',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...faults), { minLength: 1, maxLength: 150 }),
        fc.boolean(),
        fc.boolean(),
        async (script, keys, falling) => {
          const server = new FakeServer();
          Object.assign(server, { keys, falling });
          server.faults = [...script] as Fault[];
          const files = Array.from({ length: 12 }, (_, index) => ({
            name: `s${index % 5}.pdf`,
            content: `c${index % 7}`,
            patient: String(1 + (index % 2)),
          }));
          let earlier: (EarlierOutcome | undefined)[] = files.map(() => undefined);
          for (let round = 0; round < 20 && earlier.some((outcome) => outcome?.status !== 'done'); round++) {
            const plan = files.map(({ name, content, patient }, index): PlannedUpload => {
              const known = earlier[index];
              const planned = ready(name, content, { patient, ...(known && { earlier: known }) });
              return known?.status === 'done' ? { kind: 'done', row: planned.row, earlier: known } : planned;
            });
            const { outcomes } = await run(server, plan, { concurrency: 4 });
            earlier = outcomes.map(({ status, id, attempts }) => ({ status, attempts, ...(id !== null && { id }) }));
          }
          const expected = files.map(({ name, content, patient }) => `${patient} ${name} ${content}`).sort();
          const found = server.stored
            .map((file) => `${file.owner.slice(13)} ${file.name.replace(/ \(\d+\)/, '')} ${file.content}`)
            .sort();
          expect(found).toEqual(expected);
          expect(new Set(earlier.map((outcome) => outcome?.id)).size).toBe(files.length);
        },
      ),
      { numRuns: 40 },
    );
  });
});
