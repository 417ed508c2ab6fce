import { describe, expect, it } from 'vitest';
import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import type { Uploaded } from '../../../../src/core/documents/uploads/uploadfile.ts';
import {
  failureOfRun,
  nextStep,
  planNotes,
  plannedOutcome,
  repeatNotes,
} from '../../../../src/core/documents/uploads/uploadreport.ts';
import { localFailure } from '../../../../src/core/failure.ts';
import { done, ended, forReview, refused, stored } from './planned.ts';
import { ready } from './uploading.ts';

describe('what is said of files that were stored before', () => {
  const filesOf = (count: number) => Array.from({ length: count }, (_, index) => `${index}.pdf`);

  it('is one line a file, of five at most, and a number beyond', () => {
    const notes = (count: number) => {
      const files = filesOf(count);
      return repeatNotes(
        files.map((file) => ready(file, file)),
        files.map((_, index) => stored(index + 1)),
      );
    };
    expect(notes(0)).toEqual([]);
    expect(notes(5)).toEqual(
      filesOf(5).map((file, index) => `${file}: stored already as document ${index + 1}, not stored again.`),
    );
    expect(notes(6)).toEqual(['6 files stored already, not stored again.']);
  });

  it('is nothing of what this run stored, or the checks knew', () => {
    const plan = [ready('a.pdf', 'a'), done('b.pdf'), ready('c.pdf', 'c')];
    const results = [stored(1, false), plannedOutcome(done('b.pdf')), stored(3)];
    expect(repeatNotes(plan, results)).toEqual(['c.pdf: stored already as document 3, not stored again.']);
  });

  it('is their number in the notes of a plan, after what was assumed', () => {
    const [first, second] = [ready('a.pdf', 'a'), ready('b.pdf', 'b')];
    const noted = { ...first, upload: { ...first.upload, note: 'a.pdf is taken for a PDF.' } };
    expect(planNotes([first, refused('x.pdf')])).toEqual([]);
    expect(planNotes([noted, second])).toEqual(['a.pdf is taken for a PDF.']);
    expect(planNotes([done('c.pdf'), noted, done('d.pdf')])).toEqual([
      'a.pdf is taken for a PDF.',
      '2 files done in an earlier run, not uploaded again.',
    ]);
    expect(planNotes([done('c.pdf')])).toEqual(['1 file done in an earlier run, not uploaded again.']);
  });
});

describe('the outcome of a row before anything is sent', () => {
  it.each<[string, PlannedUpload, object]>([
    [
      'done before',
      done('a.pdf'),
      {
        outcome: { status: 'done', id: '7', storedName: 'seven.pdf', attempts: 2, error: null, exitCode: 0 },
        repeated: true,
      },
    ],
    [
      'done before, with no name told',
      { kind: 'done', row: { file: 'a.pdf', tags: [] }, earlier: { status: 'done', attempts: 1 } },
      {
        outcome: { status: 'done', id: null, storedName: null, attempts: 1, error: null, exitCode: 0 },
        repeated: true,
      },
    ],
    [
      'ready',
      ready('a.pdf', 'a'),
      {
        outcome: { status: 'pending', id: null, storedName: null, attempts: 0, error: null, exitCode: 130 },
        repeated: false,
      },
    ],
    [
      'ready, and tried before',
      ready('a.pdf', 'a', { earlier: { status: 'failed', attempts: 3 } }),
      {
        outcome: { status: 'pending', id: null, storedName: null, attempts: 3, error: null, exitCode: 130 },
        repeated: false,
      },
    ],
    [
      'refused, and tried before',
      refused('a.pdf', { earlier: { status: 'failed', attempts: 2 } }),
      {
        outcome: { status: 'failed', id: null, storedName: null, attempts: 2, error: 'it is empty.', exitCode: 2 },
        repeated: false,
        failure: expect.objectContaining({ message: 'a.pdf: it is empty.', exitCode: 2 }),
      },
    ],
  ])('is that of one %s', (_name, planned, expected) => {
    expect(plannedOutcome(planned)).toEqual(expected);
  });
});

describe('the failure of a run', () => {
  const words = { what: 'not uploaded', hint: 'Go on.' };
  const network = localFailure('network.unreachable', 'Nothing answers.');
  const local = localFailure('local.file', 'Cannot read b.pdf: it is in use.');
  const failureOf = (plan: readonly PlannedUpload[], results: readonly Uploaded[]) => {
    const failure = failureOfRun(plan, results, words);
    return failure && [failure.code, failure.exitCode, failure.message, failure.items, failure.hint];
  };

  it('is none where all files are done, or there are none', () => {
    expect(failureOf([], [])).toBeUndefined();
    expect(failureOf([ready('a.pdf', 'a'), done('b.pdf')], [stored(1), ended('done', 0)])).toBeUndefined();
  });

  it('is that of the only file', () => {
    expect(failureOfRun([ready('a.pdf', 'a')], [ended('failed', 8, { failure: network })], words)).toBe(network);
  });

  it('lists the only file where nothing is known of its failure', () => {
    expect(failureOf([ready('a.pdf', 'a')], [ended('pending', 130)])).toEqual([
      'run.partial',
      130,
      '1 of 1 file not uploaded.',
      [{ code: 'run.partial', source: 'a.pdf', description: 'Not tried.' }],
      'Go on.',
    ]);
  });

  it('has the code of its cause where all failed for one', () => {
    const failed = ended('failed', 8, { failure: network }, 'Nothing answers.');
    expect(failureOf([ready('a.pdf', 'a'), ready('b.pdf', 'b')], [failed, failed])).toEqual([
      'network.unreachable',
      8,
      '2 of 2 files not uploaded.',
      [
        { code: 'network.unreachable', source: 'a.pdf', description: 'Nothing answers.' },
        { code: 'network.unreachable', source: 'b.pdf', description: 'Nothing answers.' },
      ],
      'Go on.',
    ]);
  });

  it.each<[string, readonly Uploaded[], string, number, number]>([
    ['some are done', [stored(1), ended('failed', 8, { failure: network })], 'run.partial', 6, 1],
    [
      'they failed for several causes',
      [ended('failed', 8, { failure: network }), ended('failed', 9, { failure: local })],
      'run.partial',
      6,
      2,
    ],
    [
      'causes differ that end alike',
      [
        ended('failed', 8, { failure: network }),
        ended('unknown', 8, { failure: localFailure('response.malformed', '') }),
      ],
      'run.partial',
      8,
      2,
    ],
  ])('is of a part where %s', (_name, results, code, exitCode, count) => {
    const failure = failureOfRun([ready('a.pdf', 'a'), ready('b.pdf', 'b')], results, words);
    expect(failure).toMatchObject({ code, exitCode, message: `${count} of 2 files not uploaded.` });
    expect(failure?.items).toHaveLength(count);
  });

  it('names files with the line they are in, once', () => {
    const location = 'scans.csv line 3';
    const plan = [ready('a.pdf', 'a', { location }), ready('b.pdf', 'b', { location }), ready('c.pdf', 'c')];
    const results = [
      ended('failed', 9, {}, 'Cannot read a.pdf: it is in use.'),
      ended('failed', 9, {}, 'It is in use.'),
      ended('failed', 9, {}, 'It is in use.'),
    ];
    expect(failureOfRun(plan, results, words)?.items.map(({ source }) => source)).toEqual([
      'scans.csv line 3',
      'b.pdf (scans.csv line 3)',
      'c.pdf',
    ]);
  });

  it('counts files for review by their reason, after those that failed', () => {
    const plan = [forReview('a.pdf', 'No patient.'), ready('b.pdf', 'b'), forReview('c.pdf', 'Two patients.')];
    const results = [...plan, forReview('d.pdf', 'No patient.')].map(plannedOutcome);
    const items = [
      { code: 'run.partial', source: null, description: '2 files: No patient.' },
      { code: 'run.partial', source: null, description: '1 file: Two patients.' },
    ];
    expect(failureOf([...plan, forReview('d.pdf', 'No patient.')], results)).toEqual([
      'run.partial',
      6,
      '4 of 4 files not uploaded.',
      [{ code: 'run.partial', source: 'b.pdf', description: 'Not tried.' }, ...items],
      'Go on.',
    ]);
  });

  it('is not that of the only file where it is for review', () => {
    const plan = [forReview('a.pdf', 'No patient.')];
    expect(failureOf(plan, plan.map(plannedOutcome))).toEqual([
      'run.partial',
      2,
      '1 of 1 file not uploaded.',
      [{ code: 'run.partial', source: null, description: '1 file: No patient.' }],
      'Go on.',
    ]);
  });

  it.each([
    ['no file is for review', undefined, false, 'Others.'],
    ['all that are not done are', 'r.csv', true, 'REVIEW'],
    ['some that are not done are', 'r.csv', false, 'Others. REVIEW'],
  ])('has a next step where %s', (_name, review, isReviewed, expected) => {
    const step = 'Write the patients into r.csv, then upload its files with --manifest r.csv.';
    expect(nextStep('Others.', review, isReviewed)).toBe(expected.replace('REVIEW', step));
  });
});
