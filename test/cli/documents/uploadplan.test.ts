import { describe, expect, it } from 'vitest';
import { standingText } from '../../../src/cli/documents/uploadplan.ts';
import type { Uploaded } from '../../../src/core/documents/uploads/uploadfile.ts';
import type { UploadStatus } from '../../../src/core/documents/uploads/uploadrow.ts';

const uploaded = (status: UploadStatus): Uploaded => ({
  outcome: { status, id: null, storedName: null, attempts: 1, error: null, exitCode: 0 },
  repeated: false,
});

describe('where a run stands that was cut off', () => {
  it.each<[readonly UploadStatus[], string]>([
    [['done', 'unknown', 'pending', 'failed', 'done'], '2 of 5 files uploaded so far; results.csv lists them.'],
    [['pending'], '0 of 1 file uploaded so far; results.csv lists them.'],
  ])('%j', (statuses, expected) => {
    expect(standingText(statuses.map(uploaded), 'results.csv')).toBe(expected);
  });
});
