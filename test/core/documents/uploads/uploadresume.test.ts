import { describe, expect, it } from 'vitest';
import { journalKeyOf, type PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import { type JournalEntry, UploadJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import type { EarlierOutcome } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { usageFailure } from '../../../../src/core/failure.ts';
import { FakeServer } from '../fakeserver.ts';
import { holds, type ReadyFile, ready, run } from './uploading.ts';

/** A server that takes no notice of keys, so that the client alone keeps documents from being stored twice. */
function keyless(): FakeServer {
  const server = new FakeServer();
  server.keys = false;
  return server;
}

function journalOf(server: FakeServer, ...known: readonly (readonly [ReadyFile, JournalEntry])[]) {
  const lines: string[] = [];
  const entries = known.map(([{ upload }, entry]) => [journalKeyOf(upload, server.client()), entry] as const);
  const journal = new UploadJournal(new Map(entries), async (line) => {
    const { key: _, ...entry } = JSON.parse(line);
    lines.push(JSON.stringify(entry));
  });
  return { journal, lines };
}

const asked = (server: FakeServer) =>
  server.requests.map(({ method, url }) => `${method} ${new URL(url).pathname.replace('/api/v1', '')}`);

describe('a run that goes on where another was cut off', () => {
  it('notes each file before it is sent, and when it is stored', async () => {
    const server = keyless();
    const { journal, lines } = journalOf(server);
    server.faults = [undefined, 'cut-before'];
    await run(server, [ready('a.pdf', 'one'), ready('b.pdf', 'two')], { journal });
    const [a, b] = server.stored.map(({ id }) => id);
    expect(lines).toEqual([
      '{"state":"sending"}',
      `{"state":"stored","id":"${a}"}`,
      '{"state":"sending"}',
      `{"state":"stored","id":"${b}"}`,
    ]);
  });

  it('asks for a file that was stored by its id alone', async () => {
    const server = keyless();
    const { id } = server.add('a.pdf', 'ownerPatient:5', 'one');
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'stored', id: String(id) }]);
    const { results } = await run(server, [file], { journal });
    expect(results).toMatchObject([{ repeated: true, outcome: { status: 'done', id: String(id), attempts: 0 } }]);
    expect(asked(server)).toEqual([`GET /documents/${id}`]);
  });

  it('stores a file again whose document was deleted since', async () => {
    const server = keyless();
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'stored', id: '7000000000009' }]);
    await run(server, [file], { journal });
    expect(holds(server)).toEqual(['a.pdf: one']);
  });

  it('looks for a file that was being sent among all documents of its owner, whatever their ids', async () => {
    for (const falling of [false, true]) {
      const server = keyless();
      server.falling = falling;
      for (const name of ['b.pdf', 'a.pdf', 'c.pdf']) server.add(name, 'ownerPatient:5', 'other');
      const mine = server.add('a.pdf', 'ownerPatient:5', 'one');
      const file = ready('a.pdf', 'one');
      const { journal } = journalOf(server, [file, { state: 'sending' }]);
      const { outcomes } = await run(server, [file], { journal });
      expect(outcomes).toMatchObject([{ status: 'done', id: String(mine.id), storedName: 'a (1).pdf' }]);
      expect(server.posts()).toBe(0);
    }
  });

  it('takes a document with the tags that are wanted before one with others', async () => {
    const server = keyless();
    server.add('a.pdf', 'ownerPatient:5', 'one', ['other']);
    const mine = server.add('a.pdf', 'ownerPatient:5', 'one', ['X-Ray']);
    const file = ready('a.pdf', 'one', { tags: ['x-ray'] });
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    const { outcomes } = await run(server, [file], { journal });
    expect(outcomes).toMatchObject([{ status: 'done', id: String(mine.id) }]);
  });

  it('sends a file that was being sent and is not there', async () => {
    const server = keyless();
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    await run(server, [file], { journal });
    expect(holds(server)).toEqual(['a.pdf: one']);
    expect(asked(server)[0]).toBe('GET /documents');
  });

  it('never takes the document of another file for one in doubt', async () => {
    const server = keyless();
    const other = server.add('a (1).pdf', 'ownerPatient:5', 'one');
    const [doubtful, stored] = [ready('a.pdf', 'one'), ready('a (1).pdf', 'one')];
    const { journal } = journalOf(
      server,
      [doubtful, { state: 'sending' }],
      [stored, { state: 'stored', id: String(other.id) }],
    );
    const { outcomes } = await run(server, [doubtful, stored], { journal });
    expect(holds(server)).toEqual(['a (1).pdf: one', 'a.pdf: one']);
    expect(outcomes.map(({ id }) => id)).toEqual([String(server.stored[1]?.id), String(other.id)]);
  });

  it('never takes the document of a file that is done for one in doubt', async () => {
    const server = keyless();
    const other = server.add('a (1).pdf', 'ownerPatient:5', 'one');
    const doubtful = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [doubtful, { state: 'sending' }]);
    const done = (file: string, id?: string): PlannedUpload => {
      const earlier: EarlierOutcome = { status: 'done', attempts: 1, ...(id !== undefined && { id }) };
      return { kind: 'done', row: { file, tags: [], earlier }, earlier };
    };
    const refused: PlannedUpload = { kind: 'refused', row: { file: 'r.pdf', tags: [] }, failure: usageFailure('No.') };
    const plan = [done('b.pdf'), refused, doubtful, done('a (1).pdf', String(other.id))];
    const { outcomes } = await run(server, plan, { journal });
    expect(outcomes.map(({ status }) => status)).toEqual(['done', 'failed', 'done', 'done']);
    expect(holds(server)).toEqual(['a (1).pdf: one', 'a.pdf: one']);
  });

  it.each<[string, EarlierOutcome, boolean, boolean]>([
    ['pending, and the journal goes back that far', { status: 'pending', attempts: 0 }, true, false],
    ['failed, and the journal goes back that far', { status: 'failed', attempts: 3 }, true, false],
    ['unknown, and the journal knows nothing of it', { status: 'unknown', attempts: 1 }, true, true],
    ['pending in results of elsewhere', { status: 'pending', attempts: 0, elsewhere: true }, true, true],
    ['pending, and the journal is lost', { status: 'pending', attempts: 0 }, false, true],
    ['failed, and the journal is lost', { status: 'failed', attempts: 3 }, false, true],
  ])('looks on the server only where need be: %s', async (_, earlier, isContinued, looks) => {
    const server = keyless();
    server.add('a.pdf', 'ownerPatient:5', 'one');
    const known = isContinued ? { journal: journalOf(server).journal } : {};
    await run(server, [ready('a.pdf', 'one', { earlier })], known);
    expect(holds(server)).toHaveLength(looks ? 1 : 2);
    expect(asked(server)[0]).toBe(looks ? 'GET /documents' : 'POST /documents');
  });

  it('is told what the server refused, so that it need not look', async () => {
    const server = keyless();
    const file = ready('a.pdf', 'one', { patient: '6' });
    const { journal, lines } = journalOf(server);
    const send = server.send;
    Object.assign(server, {
      send: (request: Parameters<typeof send>[0]) =>
        send(request.method === 'POST' ? { ...request, method: 'GET', url: `${request.url}/1` } : request),
    });
    const { outcomes } = await run(server, [file], { journal });
    expect(outcomes).toMatchObject([{ status: 'failed', exitCode: 4 }]);
    expect(lines).toEqual(['{"state":"sending"}', '{"state":"refused"}']);
  });

  it('is not told so of a file whose first POST may have been done', async () => {
    const server = keyless();
    const { journal, lines } = journalOf(server);
    const { send } = server;
    Object.assign(server, {
      send: (request: Parameters<typeof send>[0]) =>
        send(server.posts() === 1 && request.method === 'POST' ? { ...request, headers: {} } : request),
    });
    server.faults = ['cut-before'];
    const { outcomes } = await run(server, [ready('a.pdf', 'one')], { journal });
    expect(outcomes).toMatchObject([{ status: 'failed', exitCode: 3 }]);
    expect(lines).toEqual(['{"state":"sending"}']);
  });

  it('does not send what it cannot note', async () => {
    const server = keyless();
    const journal = new UploadJournal(undefined, () => Promise.reject(new Error('disk full')));
    const { outcomes } = await run(server, [ready('a.pdf', 'one')], { journal });
    expect(outcomes).toMatchObject([{ status: 'failed', attempts: 0 }]);
    expect(server.requests).toEqual([]);
  });
});

describe('a document that may be the one', () => {
  const downloads = (server: FakeServer) => asked(server).filter((line) => line.includes('/files/')).length;

  it('is told by its content, however often the line spoils it', async () => {
    const server = keyless();
    const mine = server.add('a.pdf', 'ownerPatient:5', 'one');
    const spoilt = (text: string) => () => ({ status: 200, headers: {}, body: parts(text) });
    server.downloads = [spoilt('onE'), spoilt(''), spoilt('oneone'), spoilt('onE')];
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    const { outcomes } = await run(server, [file], { journal });
    expect(outcomes).toMatchObject([{ status: 'done', id: String(mine.id) }]);
    expect(downloads(server)).toBe(5);
  });

  it('is another when it says so three times', async () => {
    const server = keyless();
    server.add('a.pdf', 'ownerPatient:5', 'two');
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    await run(server, [file], { journal });
    expect(holds(server)).toEqual(['a.pdf: two', 'a (1).pdf: one']);
    expect(downloads(server)).toBe(3);
  });

  it('leaves the file in doubt when it is never the same', async () => {
    const server = keyless();
    server.add('a.pdf', 'ownerPatient:5', 'one');
    server.downloads = Array.from({ length: 10 }, (_, at) => () => ({
      status: 200,
      headers: {},
      body: parts(`x${at}x`),
    }));
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    const { outcomes } = await run(server, [file], { journal });
    expect(outcomes).toMatchObject([{ status: 'unknown', exitCode: 8 }]);
    expect(server.posts()).toBe(0);
  });

  it('is downloaded once, however often it is looked at', async () => {
    const server = keyless();
    server.add('a.pdf', 'ownerPatient:5', 'two');
    server.faults = ['cut-before', 504, 500];
    await run(server, [ready('a.pdf', 'one')]);
    expect(holds(server)).toEqual(['a.pdf: two', 'a (1).pdf: one']);
    expect(downloads(server)).toBe(3);
  });

  it('is told by the hash that the server tells, without its content', async () => {
    const server = keyless();
    const mine = server.add('a.pdf', 'ownerPatient:5', 'one');
    // printf one | openssl dgst -sha256 -binary | base64
    const headers = { 'repr-digest': 'sha-256=:dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=:' };
    server.downloads = [() => ({ status: 200, headers, body: parts('') })];
    const file = ready('a.pdf', 'one');
    const { journal } = journalOf(server, [file, { state: 'sending' }]);
    const { outcomes } = await run(server, [file], { journal });
    expect(outcomes).toMatchObject([{ status: 'done', id: String(mine.id) }]);
    expect(downloads(server)).toBe(1);
  });
});

async function* parts(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
