import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import type { Uploaded } from '../../../../src/core/documents/uploads/uploadfile.ts';
import type { UploadRow, UploadStatus } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { localFailure } from '../../../../src/core/failure.ts';

export const done = (file: string, more: Partial<UploadRow> = {}): PlannedUpload => {
  const earlier = { status: 'done', id: '7', storedName: 'seven.pdf', attempts: 2 } as const;
  return { kind: 'done', row: { file, tags: [], earlier, ...more }, earlier };
};

export const refused = (file: string, more: Partial<UploadRow> = {}): PlannedUpload => ({
  kind: 'refused',
  row: { file, tags: [], ...more },
  failure: localFailure('usage.invalid', `${file}: it is empty.`),
});

export const forReview = (file: string, reason: string): PlannedUpload =>
  refused(file, { patient: '?', review: { reason, candidates: [] } });

/** How a file ended, by its exit code. */
export function ended(
  status: UploadStatus,
  exitCode: number,
  more: Partial<Uploaded> = {},
  error: string | null = null,
) {
  const outcome = { status, id: null, storedName: null, attempts: 1, error, exitCode };
  return { outcome, repeated: false, ...more };
}

export const stored = (id: number, repeated = true) => ended('done', 0, { repeated, document: { id } });
