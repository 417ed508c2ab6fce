import { describe, expect, it } from 'vitest';
import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import { checkedRows, failureOfChecks } from '../../../../src/core/documents/uploads/uploadreport.ts';
import { done, forReview, refused } from './planned.ts';
import { ready } from './uploading.ts';

describe('the failure of the checks', () => {
  it('is none where every file is ready or done', () => {
    expect(failureOfChecks([ready('a.pdf', 'a'), done('b.pdf')])).toBeUndefined();
  });

  it('is of the files that are refused', () => {
    expect(failureOfChecks([ready('a.pdf', 'a'), refused('b.pdf'), done('c.pdf')])).toMatchObject({
      exitCode: 6,
      message: '1 of 3 files refused.',
      items: [{ code: 'usage.invalid', source: 'b.pdf', description: 'it is empty.' }],
      hint: 'Correct what is listed.',
    });
    expect(failureOfChecks([refused('a.pdf'), refused('b.pdf')])).toMatchObject({ exitCode: 2, code: 'usage.invalid' });
  });

  it.each<[string, readonly PlannedUpload[], string, boolean]>([
    ['alone', [ready('a.pdf', 'a'), forReview('b.pdf', 'No patient.'), done('c.pdf')], '1 of 3 files not ready.', true],
    ['and others', [refused('a.pdf'), forReview('b.pdf', 'No patient.')], '2 of 2 files not ready.', false],
  ])('tells of files for review %s', (_name, plan, message, alone) => {
    const failure = failureOfChecks(plan, 'review.csv');
    expect(failure?.message).toBe(message);
    expect(failure?.hint).toContain('upload its files with --manifest review.csv.');
    expect(failure?.hint?.startsWith('Correct what is listed. ')).toBe(!alone);
  });
});

describe('the rows of --check', () => {
  const nothing = {
    name: null,
    patient: null,
    perioExam: null,
    tags: [],
    mimeType: null,
    userDefinedDate: null,
    bytes: null,
    error: null,
  };

  it('are what will be sent, or what was asked for', () => {
    const asked = { name: 'x', patient: '5', tags: ['t'], mimeType: 'pdf', userDefinedDate: '2026-01-02' };
    expect(
      checkedRows([
        ready('a.pdf', 'four', { name: 'b', userDefinedDate: '2026-01-02' }),
        refused('c.pdf', asked),
        refused('d.pdf', { perioExam: '12', userDefinedDate: '?' }),
        forReview('e.pdf', 'No patient.'),
        done('f.pdf', { name: 'y' }),
        { kind: 'done', row: { file: 'g.pdf', name: 'y', tags: [] }, earlier: { status: 'done', attempts: 1 } },
      ]),
    ).toEqual([
      {
        ...nothing,
        status: 'ready',
        file: 'a.pdf',
        name: 'b.pdf',
        patient: 5,
        mimeType: 'PDF',
        userDefinedDate: '2026-01-02',
        bytes: 4,
      },
      { ...nothing, ...asked, status: 'refused', file: 'c.pdf', patient: 5, error: 'it is empty.' },
      { ...nothing, status: 'refused', file: 'd.pdf', perioExam: 12, error: 'it is empty.' },
      { ...nothing, status: 'review', file: 'e.pdf', error: 'it is empty.' },
      { ...nothing, status: 'done', file: 'f.pdf', name: 'seven.pdf' },
      { ...nothing, status: 'done', file: 'g.pdf', name: 'y' },
    ]);
  });

  it.each<[string, number | string]>([
    ['123456789012345', 123_456_789_012_345],
    ['1234567890123456', '1234567890123456'],
    ['x5', 'x5'],
    ['5x', '5x'],
  ])('have the patient %s as %j', (patient, shown) => {
    expect(checkedRows([refused('a.pdf', { patient })])[0]?.patient).toBe(shown);
  });
});
