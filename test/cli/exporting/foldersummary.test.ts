import { describe, expect, it } from 'vitest';
import type { FileOutcome, FolderRun } from '../../../src/cli/exporting/summary.ts';
import { failureOfFolder, folderLine, folderSummary, reasonOf } from '../../../src/cli/exporting/summary.ts';
import { Failure, localFailure } from '../../../src/core/failure.ts';

const NOON = Date.UTC(2026, 2, 2, 12);

const planned = (name: string) =>
  ({
    file: `${name}.csv`,
    isIds: false,
    query: { resource: { name, many: name }, options: {} },
  }) as unknown as FileOutcome['planned'];

const receipt = (rows: number, retries: number, throttledSeconds: number) =>
  ({
    ...{ rows, pages: 2, retries, throttledSeconds },
    startedAt: '2026-03-02T12:00:00.000Z',
    endedAt: '2026-03-02T12:00:02.500Z',
  }) as FileOutcome['receipt'];

const complete = (name: string, own: Partial<FileOutcome> = {}): FileOutcome => ({
  ...{ planned: planned(name), file: `${name}.csv`, kind: 'whole', status: 'complete', receipt: receipt(5, 1, 0.3) },
  ...own,
});

const failed = (name: string, failure: Failure, own: Partial<FileOutcome> = {}): FileOutcome => ({
  ...{ planned: planned(name), file: `${name}.csv`, kind: 'whole', status: 'failed', failure },
  ...own,
});

const notTried = (name: string): FileOutcome => ({
  ...{ planned: planned(name), file: `${name}.csv`, kind: 'whole', status: 'not tried' },
});

const failureOf = (exitCode: number, hint = `Hint ${exitCode}.`) =>
  new Failure(`Failed with ${exitCode}.`, { code: `code.${exitCode}`, exitCode, requestId: `req-${exitCode}`, hint });
const interrupted = localFailure('run.interrupted', 'Interrupted.');
const overtime = localFailure('run.overtime', 'Too long.');

describe('the summary', () => {
  const effort = { rows: 3, pages: 1, retries: 4, throttledMilliseconds: 1260, resumed: 0 };
  const run: FolderRun = {
    ...{ url: 'https://api.example.com', organization: 'org-1', sinceLast: undefined },
    ...{ startedAt: NOON, endedAt: NOON + 61_500, exitCode: 6, reason: 'run.partial' },
    outcomes: [
      complete('patients'),
      complete('events', { file: null, kind: 'changes', receipt: receipt(0, 2, 0) }),
      failed('locations', failureOf(8), { interrupted: { ...effort, resumable: true } }),
      failed('providers', failureOf(3), { interrupted: { ...effort, throttledMilliseconds: 0, resumable: false } }),
      notTried('recalls'),
    ],
  };

  it('counts rows and pages of the files that are there, and what all of them took', () => {
    expect(folderSummary(run)).toMatchObject({
      ...{ complete: false, exitCode: 6, durationSeconds: 61.5, endedAt: '2026-03-02T12:01:01.500Z' },
      totals: { files: 1, rows: 5, pages: 4, retries: 11, throttledSeconds: 1.6 },
    });
    expect(folderSummary({ ...run, exitCode: 0 })).toMatchObject({ complete: true });
    expect(folderSummary({ ...run, exitCode: null, endedAt: null })).toMatchObject({
      ...{ complete: false, endedAt: null, durationSeconds: null },
    });
  });

  it('tells of each file what it took, and of one that is not there how far it can be resumed', () => {
    const files = folderSummary(run).files as Readonly<Record<string, unknown>>[];
    expect(files).toMatchObject([
      { file: 'patients.csv', rows: 5, retries: 1, throttledSeconds: 0.3, durationSeconds: 2.5, error: null },
      { file: null, rows: 0, retries: 2, throttledSeconds: 0 },
      { rows: null, retries: 4, throttledSeconds: 1.3, durationSeconds: null, resumable: { rows: 3, pages: 1 } },
      { rows: null, error: { code: 'code.3', message: 'Failed with 3.', exitCode: 3, requestId: 'req-3' } },
      { status: 'not tried', rows: null, retries: null, throttledSeconds: null, error: null },
    ]);
    expect(files.map((file) => 'resumable' in file)).toEqual([false, false, true, false, false]);
  });

  it('is a line for people', () => {
    expect(folderLine(run, 'out')).toBe(
      'Exported 1 of 4 files to out: 5 rows, 11 retries, 2 s held back by the rate limit, 1 min 2 s.',
    );
    const whole = { ...run, endedAt: NOON, outcomes: [complete('patients', { receipt: receipt(1, 1, 0) })] };
    expect(folderLine(whole, 'out')).toBe('Exported 1 file to out: 1 row, 1 retry, 0 s.');
  });
});

describe('the failure of a run', () => {
  const again = 'Run it again with --resume to continue this run. No bookmark has moved.';

  it.each<[string, readonly FileOutcome[], object | undefined]>([
    ['of complete files', [complete('patients'), complete('events')], undefined],
    ['of one file is its own', [failed('patients', failureOf(3))], { message: 'Failed with 3.', exitCode: 3 }],
    [
      'where one is complete',
      [complete('patients'), failed('events', failureOf(3))],
      { code: 'run.partial', exitCode: 6, hint: again, requestId: 'req-3' },
    ],
    [
      'where all were refused alike',
      [failed('patients', failureOf(3)), failed('events', failureOf(3))],
      { code: 'code.3', exitCode: 3, hint: 'Hint 3.' },
    ],
    [
      'where the connection ended all',
      [failed('patients', failureOf(8)), notTried('events')],
      { code: 'code.8', exitCode: 8, hint: again },
    ],
    [
      'where causes differ',
      [failed('patients', failureOf(3)), failed('events', failureOf(8))],
      { code: 'run.partial', exitCode: 6, hint: again },
    ],
    [
      'where a signal came last',
      [failed('patients', failureOf(3)), failed('events', interrupted), notTried('recalls')],
      { code: 'run.interrupted', message: 'Interrupted.' },
    ],
  ])('%s', (_name, outcomes, expected) => {
    const failure = failureOfFolder(outcomes);
    if (expected === undefined) expect(failure).toBeUndefined();
    else expect(failure).toMatchObject(expected);
  });

  it('names every file that is missing, also those not tried', () => {
    const failure = failureOfFolder([complete('patients'), failed('events', failureOf(8)), notTried('recalls')]);
    expect(failure).toMatchObject({
      message: '2 of 3 files were not exported.',
      items: [
        { code: 'code.8', source: 'events.csv', description: 'Failed with 8.' },
        { code: 'run.partial', source: 'recalls.csv', description: 'Not tried.' },
      ],
    });
  });

  it.each<[string, readonly FileOutcome[], Failure | undefined, string]>([
    ['nothing is missing', [complete('patients')], undefined, 'complete'],
    ['something failed', [failed('patients', failureOf(3))], failureOf(6), 'code.6'],
    ['its time was up', [complete('patients'), failed('events', overtime)], failureOf(6), 'run.overtime'],
  ])('gives the reason when %s', (_name, outcomes, failure, reason) => {
    expect(reasonOf(outcomes, failure)).toBe(reason);
  });
});
