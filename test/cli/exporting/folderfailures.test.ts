import { afterEach, describe, expect, it, vi } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { broken, problem } from '../../core/transport/script.ts';
import { jsonFailure, type World } from '../runcommand.ts';
import { BOTH, nightly, refused } from './nightly.ts';

afterEach(() => vi.useRealTimers());

describe('a run in which something fails', () => {
  it('does the rest and ends with 6; the summary tells what failed', async () => {
    const { run, practice, summary, names } = await nightly();
    practice.instead = refused('patients');
    const ran = await run(BOTH);
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toMatch(/^Exported 1 of 2 files to .*\nError: 1 of 2 files were not exported\./);
    expect(await summary()).toMatchObject({
      ...{ complete: false, exitCode: 6, reason: 'run.partial', totals: { files: 1, rows: 2 } },
      files: [
        { status: 'failed', rows: null, error: { code: 'auth.scope_missing', exitCode: 3 } },
        { status: 'complete', rows: 2 },
      ],
    });
    expect(await names()).not.toContain('patients.csv.part');
    practice.instead = refused('patients');
    const json = await run([...BOTH, '--json']);
    expect(json.stdout).toBe('');
    expect(jsonFailure(json)).toMatchObject({ code: 'run.partial', exitCode: 6 });
  });

  it.each<[string, number, number, string]>([
    ['the token is not accepted', 401, 3, 'not tried'],
    ['the scope is missing', 403, 3, 'failed'],
  ])('ends with the code of the one cause when nothing could be had: %s', async (_name, status, exitCode, second) => {
    const { run, practice, summary } = await nightly();
    practice.instead = () => problem(status, 'auth.token_unknown', null, 'No.');
    expect((await run(BOTH)).exitCode).toBe(exitCode);
    expect((await summary()).files.map((file: { status: string }) => file.status)).toEqual(['failed', second]);
  });

  it('counts the retries of each file once', async () => {
    const { run, practice, summary } = await nightly();
    const failed = new Set<string>();
    practice.instead = (segment) => {
      if (failed.has(segment)) return undefined;
      failed.add(segment);
      return problem(503, 'server.unavailable', null, 'No.');
    };
    const { stderr } = await run(BOTH);
    expect(stderr).toContain('5 rows, 2 retries');
    expect(await summary()).toMatchObject({ totals: { retries: 2 }, files: [{ retries: 1 }, { retries: 1 }] });
  });

  it('can be resumed: what is complete stays, what is not goes on', async () => {
    const { run, practice, summary, read, names } = await nightly();
    practice.instead = (segment, { url }) =>
      segment === 'transactions' && url.includes('lastId=7')
        ? problem(403, 'auth.scope_missing', null, 'No.')
        : undefined;
    const line = [...BOTH, '--page-size', '1'];
    expect((await run(line)).exitCode).toBe(6);
    expect(await summary()).toMatchObject({ files: [{}, { status: 'failed', resumable: { rows: 1, pages: 1 } }] });
    const before = practice.count('patients');
    practice.instead = () => undefined;
    const ran = await run([...line, '--resume']);
    expect([ran.exitCode, ran.stderr.split('\n').length]).toEqual([0, 2]);
    expect(practice.count('patients')).toBe(before);
    expect(practice.asked.at(-1)?.[1].lastId).toBe('8');
    expect(await read('transactions.csv')).toBe('id\n7\n8\n');
    expect(await summary()).toMatchObject({
      complete: true,
      files: [{ finishedByEarlierRun: true, rows: 3 }, { rows: 2 }],
    });
    expect(await names()).not.toContain('.molar-export.json');
  });

  it('of another line is not resumed: refused before anything is sent', async () => {
    const { run, practice } = await nightly();
    practice.instead = () => {
      throw broken(true);
    };
    await run(['patients', '--max-retries', '0']);
    const before = practice.asked.length;
    const ran = await run(['patients', '--fields', 'patients:id', '--resume']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('the selection of fields was none and is now id');
    expect(practice.asked.length).toBe(before);
  });

  it('tells a signal by its code, and what was not tried', async () => {
    const { run, practice, summary } = await nightly();
    const stopping = new AbortController();
    practice.instead = () => {
      if (practice.asked.length === 2) stopping.abort(localFailure('run.interrupted', 'Interrupted.'));
      return undefined;
    };
    const ran = await run([...BOTH, '--page-size', '1'], { signal: stopping.signal });
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr).toContain('Run it again with --resume');
    expect(await summary()).toMatchObject({
      ...{ complete: false, exitCode: 130, reason: 'run.interrupted' },
      files: [{ status: 'failed' }, { status: 'not tried' }],
    });
  });

  it.each<[string, string, readonly string[], object]>([
    ['before anything is there', 'patients', ['failed', 'not tried'], { exitCode: 7, totals: { files: 0, rows: 0 } }],
    ['when a file is there', 'transactions', ['complete', 'failed'], { exitCode: 6, totals: { files: 1, rows: 3 } }],
  ])('stops when its time is up, and says so: %s', async (_name, last, statuses, told) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { run, practice, summary, names } = await nightly();
    const answering = practice.script.send;
    const left: boolean[] = [];
    const send: typeof answering = (request) => {
      if (!request.url.includes(`/${last}`)) return answering(request);
      vi.advanceTimersByTime(2999);
      left.push(request.signal?.aborted === false);
      const answered = aborted(request.signal);
      vi.advanceTimersByTime(1);
      return answered;
    };
    const ran = await run([...BOTH, '--max-duration', '3s'], { script: { send } } as unknown as World);
    expect(left).toEqual([true]);
    expect(ran.stderr).toContain('The run was stopped after 3 s');
    expect(await summary()).toMatchObject({ complete: false, reason: 'run.overtime', ...told });
    expect((await summary()).files.map((file: { status: string }) => file.status)).toEqual(statuses);
    expect(await names()).toContain(`${last}.csv.part.json`);
  });

  it('watches its time no longer once it has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { run } = await nightly();
    expect((await run([...BOTH, '--max-duration', '3s'])).exitCode).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
