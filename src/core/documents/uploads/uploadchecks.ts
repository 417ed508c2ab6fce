import { list } from '../../../catalog/fields/composites.ts';
import { id, integer } from '../../../catalog/fields/numbers.ts';
import { choice, text } from '../../../catalog/fields/text.ts';
import { date } from '../../../catalog/fields/times.ts';
import { readOnly } from '../../../catalog/record.ts';
import type { Row } from '../../pages/page.ts';
import { reasonFor } from '../outcome.ts';
import type { PlannedUpload } from './plan.ts';
import { UNKNOWN } from './uploadrow.ts';

/** What `--check` tells of each file, in the order of the files. */
export const checkedFields = {
  status: readOnly(choice(['ready', 'refused', 'done']), 'Whether it may be uploaded; done: an earlier run did'),
  file: readOnly(text(), 'Path as given'),
  name: readOnly(text(), 'Name it is stored under, numbering aside'),
  patient: readOnly(id(), 'Owning patient'),
  perioExam: readOnly(id(), 'Owning perio exam'),
  tags: readOnly(list(text()), 'Tags'),
  mimeType: readOnly(text(), 'Type'),
  userDefinedDate: readOnly(date(), 'Date of your own'),
  bytes: readOnly(integer(), 'Size'),
  error: readOnly(text(), 'Why it is refused'),
} as const;

/** The rows of `--check`: whole for files that are ready, and what was asked for with the reason for others. */
export function checkedRows(plan: readonly PlannedUpload[]): Row[] {
  return plan.map((planned) => {
    const { kind, row } = planned;
    const asked = {
      status: kind,
      file: row.file,
      name: row.name ?? null,
      patient: idOf(row.patient),
      perioExam: idOf(row.perioExam),
      tags: row.tags,
      mimeType: row.mimeType ?? null,
      userDefinedDate: known(row.userDefinedDate),
      bytes: null,
      error: null,
    };
    if (kind === 'refused') return { ...asked, error: reasonFor(row.file, planned.failure.message) };
    if (kind === 'done') return { ...asked, name: planned.earlier.storedName ?? asked.name };
    const { fields, storedName, source } = planned.upload;
    return { ...asked, name: storedName, mimeType: fields.mimeType, bytes: source.size };
  });
}

/** The id as a number, or the text that is none. */
function idOf(text: string | undefined): number | string | null {
  if (known(text) === null || text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function known(text: string | undefined): string | null {
  return text === undefined || text === UNKNOWN ? null : text;
}
