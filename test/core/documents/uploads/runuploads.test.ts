import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import { readEarlierResults } from '../../../../src/core/documents/uploads/resultsfile.ts';
import { type PreparedUploads, runFiles } from '../../../../src/core/documents/uploads/uploadprepare.ts';
import { runUploads, type UploadRunDependencies } from '../../../../src/core/documents/uploads/uploadrun.ts';
import { localFailure } from '../../../../src/core/failure.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { replaceSystem, systemError } from '../../../support/othersystem.ts';
import { FakeServer } from '../fakeserver.ts';
import { holds, ready } from './uploading.ts';

let folder: string;
let path: string;
let server: FakeServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'results.csv');
  server = new FakeServer();
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs a plan, as the checks leave it; `notes`: what a person is told. */
async function runPlan(
  plan: readonly PlannedUpload[],
  { prepared, ...deps }: Partial<UploadRunDependencies> & { readonly prepared?: Partial<PreparedUploads> } = {},
) {
  const notes: string[] = [];
  const all = {
    plan,
    ...{ notes: [], single: false, results: 'out/results.csv', earlier: [] },
    ...{ files: runFiles(path), dispose: async () => undefined },
    ...prepared,
  };
  const report = await runUploads(all, {
    client: server.client(),
    fetching: server.fetching(),
    concurrency: 1,
    now: () => 0,
    note: async (text) => void notes.push(text),
    ...deps,
  });
  return { ...report, notes };
}

/** Lets `look` see each POST before the server does. */
function atEachPost(look: (posts: number) => Promise<void> | void): void {
  const { send } = server;
  Object.assign(server, {
    send: async (request: Parameters<typeof send>[0]) => {
      if (request.method === 'POST') await look(server.posts());
      return send(request);
    },
  });
}

const refused = (file: string): PlannedUpload => ({
  kind: 'refused',
  row: { file, tags: [] },
  failure: localFailure('usage.invalid', `${file} is empty.`),
});
const forReview: PlannedUpload = {
  kind: 'refused',
  row: { file: 'r.pdf', tags: [], patient: '?', review: { reason: 'No patient.', candidates: [] } },
  failure: localFailure('run.partial', 'r.pdf: No patient.'),
};

/** The statuses in the results file, and the states in the journal. */
const statuses = async () =>
  (await readEarlierResults(path, 'results.csv')).map(({ file, earlier }) => `${file} ${earlier?.status}`);
const states = async () =>
  (await readFile(`${path}.journal`, 'utf8')).match(/(?<="state":")\w+/g)?.join(' ') ?? 'nothing';

describe('a whole run of uploads', () => {
  it('ends with the documents, and with every outcome in the results', async () => {
    const settled: (string | null)[] = [];
    const sent: number[] = [];
    const skipped: number[] = [];
    const report = await runPlan([ready('a.pdf', 'one'), ready('b.pdf', 'four')], {
      onSettled: ({ outcome }) => void settled.push(outcome.storedName),
      onBytes: (size) => void sent.push(size),
      onSkipped: (size) => void skipped.push(size),
    });
    expect(report.documents).toMatchObject(server.stored.map(({ id, name }) => ({ id, name })));
    expect(report.results.map(({ outcome }) => outcome.status)).toEqual(['done', 'done']);
    expect([report.failure, report.notes, settled]).toEqual([undefined, [], ['a.pdf', 'b.pdf']]);
    expect(sent.filter((size) => size !== 0)).toEqual([3, 4]);
    expect(skipped).toEqual([0, 0]);
    expect(await statuses()).toEqual(['a.pdf done', 'b.pdf done']);
    expect((await readdir(folder)).sort()).toEqual(['results.csv', 'results.csv.journal']);
  });

  it('has all rows in the results and the file in the journal before its first byte goes out', async () => {
    const seen: string[][] = [];
    atEachPost(async () => void seen.push([...(await statuses()), await states()]));
    await runPlan([refused('x.pdf'), ready('a.pdf', 'one'), ready('b.pdf', 'two')]);
    const before = ['x.pdf failed', 'a.pdf pending', 'b.pdf pending'];
    expect(seen).toEqual([
      [...before, 'sending'],
      [...before, 'sending stored sending'],
    ]);
    expect(await statuses()).toEqual(['x.pdf failed', 'a.pdf done', 'b.pdf done']);
  });

  it('brings the results up to date each second', async () => {
    let now = 0;
    const seen: string[][] = [];
    atEachPost(async () => {
      seen.push(await statuses());
      now += 500;
    });
    await runPlan(
      ['a', 'b', 'c', 'd'].map((name) => ready(name, name)),
      { now: () => now },
    );
    const nothing = ['a pending', 'b pending', 'c pending', 'd pending'];
    const two = ['a done', 'b done', 'c pending', 'd pending'];
    expect(seen).toEqual([nothing, nothing, two, two]);
  });

  it('goes on with the journal of the run before', async () => {
    server.keys = false;
    server.faults = ['cut-after'];
    const controller = new AbortController();
    const { send } = server;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => {
        if (request.method === 'GET') controller.abort(new Error('interrupted'));
        return send(request);
      },
    });
    const fetching = { ...server.fetching(), signal: controller.signal };
    const first = await runPlan([ready('a.pdf', 'one')], { fetching });
    expect(first.results.map(({ outcome }) => outcome.status)).toEqual(['unknown']);
    expect([await statuses(), await states()]).toEqual([['a.pdf unknown'], 'sending']);
    Object.assign(server, { send });
    await runPlan([ready('a.pdf', 'one'), ready('b.pdf', 'two')]);
    await runPlan([ready('b.pdf', 'two')]);
    expect(holds(server)).toEqual(['a.pdf: one', 'b.pdf: two']);
    expect(server.posts()).toBe(2);
  });

  it('tells which files were stored before', async () => {
    await runPlan([ready('a.pdf', 'one')]);
    const { notes, failure } = await runPlan([ready('a.pdf', 'one'), ready('b.pdf', 'two')]);
    expect(notes).toEqual([`a.pdf: stored already as document ${server.stored[0]?.id}, not stored again.`]);
    expect(failure).toBeUndefined();
  });

  it.each<[string, readonly PlannedUpload[], string | undefined, number, string]>([
    ['some are refused', [refused('x.pdf'), ready('a.pdf', 'one')], undefined, 1, 'OTHERS'],
    ['some are for review', [forReview, ready('a.pdf', 'one')], 'r.csv', 1, 'REVIEW'],
    ['some are for review and others refused', [forReview, refused('x.pdf')], 'r.csv', 2, 'OTHERS REVIEW'],
  ])('says what to do next where %s', async (_name, plan, review, count, hint) => {
    const { failure, documents } = await runPlan(plan, { prepared: { ...(review && { review }) } });
    expect(documents).toHaveLength(server.stored.length);
    expect(failure?.message).toBe(`${count} of 2 files not uploaded.`);
    expect(failure?.hint).toBe(
      hint
        .replace('OTHERS', 'Correct what is listed, then run the rest with --manifest out/results.csv.')
        .replace('REVIEW', 'Write the patients into r.csv, then upload its files with --manifest r.csv.'),
    );
  });

  it('moves results of other files out of the way, and says so', async () => {
    const table = 'file,status,attempts\nx.pdf,failed,1\ny.pdf,pending,0\n';
    await writeFile(path, table);
    const earlier = await readEarlierResults(path, 'results.csv');
    const { notes } = await runPlan([ready('a.pdf', 'one')], { prepared: { earlier } });
    expect(notes).toEqual([`Earlier results with 2 files not uploaded were moved to ${join('out', 'results.1.csv')}.`]);
    expect(await readFile(join(folder, 'results.1.csv'), 'utf8')).toBe(table);
    expect(await statuses()).toEqual(['a.pdf done']);
  });

  it('has every outcome in the results when it is interrupted', async () => {
    const controller = new AbortController();
    atEachPost((posts) => {
      if (posts === 1) controller.abort(new Error('interrupted'));
    });
    const fetching = { ...server.fetching(), signal: controller.signal };
    const { results } = await runPlan(
      ['a', 'b', 'c'].map((name) => ready(name, name)),
      { fetching },
    );
    expect(results.map(({ outcome }) => outcome.status)).toEqual(['done', 'unknown', 'pending']);
    expect(await statuses()).toEqual(['a done', 'b unknown', 'c pending']);
  });

  it('sends nothing where the journal or the results cannot be written', async () => {
    await mkdir(`${path}.journal`);
    await expect(runPlan([ready('a.pdf', 'one')])).rejects.toMatchObject({ exitCode: 9 });
    await rm(`${path}.journal`, { recursive: true });
    await mkdir(path);
    await expect(runPlan([ready('a.pdf', 'one')])).rejects.toMatchObject({ exitCode: 9 });
    expect(server.requests).toEqual([]);
  });

  it('writes the results once more where one of their writes failed', async () => {
    let now = 0;
    let broken = false;
    atEachPost(() => {
      now += 2000;
      broken = true;
    });
    const { rename } = system;
    replaceSystem({
      rename: async (from, to) => {
        if (broken) {
          broken = false;
          throw systemError('ENOSPC');
        }
        return rename(from, to);
      },
    });
    await expect(runPlan([ready('a.pdf', 'one')], { now: () => now })).rejects.toMatchObject({ exitCode: 9 });
    expect(await statuses()).toEqual(['a.pdf done']);
  });

  it('closes the journal, however it ends', async () => {
    const handles: { readonly fd: number }[] = [];
    const { open } = system;
    replaceSystem({
      open: async (...given) => {
        const file = await open(...given);
        if (String(given[0]).includes('.journal')) handles.push(file);
        return file;
      },
    });
    await runPlan([ready('a.pdf', 'one')]);
    await rm(path);
    await mkdir(path);
    await expect(runPlan([ready('a.pdf', 'one')])).rejects.toMatchObject({ exitCode: 9 });
    // On Windows the journal is also opened to be synced.
    expect(handles.length).toBeGreaterThanOrEqual(2);
    expect(handles.filter(({ fd }) => fd !== -1)).toEqual([]);
  });

  it('sends as many files at a time as it may', async () => {
    let running = 0;
    let most = 0;
    const { send } = server;
    Object.assign(server, {
      send: async (request: Parameters<typeof send>[0]) => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        return send(request).finally(() => running--);
      },
    });
    const plan = Array.from({ length: 9 }, (_, index) => ready(`${index}.pdf`, `${index}`));
    await runPlan(plan, { concurrency: 3 });
    expect(most).toBe(3);
  });
});
