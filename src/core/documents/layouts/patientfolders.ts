import { basename, relative, resolve, sep } from 'node:path';
import { asId } from '../../../catalog/fields/numbers.ts';
import { isDate } from '../../../catalog/fields/times.ts';
import { defaultName } from '../uploads/draft.ts';
import { UNKNOWN, type UploadRow } from '../uploads/uploadrow.ts';

/** The paths of `patient-folders`. */
export const CONVENTION = 'PATIENTID_anything/[tag/]YYYY-MM-DD-name.ext';

/**
 * The row that a file's path gives in `--layout patient-folders`: `7000000000114_Smith/X-Ray/2026-01-02-Bitewing.jpg` is
 * a document of patient 7000000000114, tagged X-Ray, of that date, named Bitewing. `root` is the folder that was given:
 * that above the patients' folders, or one of theirs. A file elsewhere carries the reason as its `problem`.
 */
export function patientFolderRow(file: string, root: string, folder: string): UploadRow {
  const inside = relative(resolve(folder, root), resolve(folder, file)).split(sep);
  const above = basename(resolve(folder, root));
  const here = inside.length > 1 ? patientOf(inside[0]) : undefined;
  if (here !== undefined && patientOf(above) !== undefined) {
    return refused(file, `${above} and ${inside[0]} both begin with a patient id. Give the folder above ${above}.`);
  }
  const parts = here === undefined ? [above, ...inside] : inside;
  const patient = here ?? patientOf(above);
  if (patient === undefined) return refused(file, `no folder above it begins with a patient id (${CONVENTION}).`);
  const name = parts.at(-1) ?? '';
  const [tag, ...deeper] = parts.slice(1, -1);
  if (deeper.length > 0)
    return refused(file, `it is too deep: at most one folder, the tag, may be between (${CONVENTION}).`, patient);
  const [, date = '', title = ''] = /^(\d{4}-\d{2}-\d{2})-(.+)$/s.exec(name) ?? [];
  if (!isDate(date)) return refused(file, `its name does not begin with a date, YYYY-MM-DD- (${CONVENTION}).`, patient);
  return {
    file,
    patient,
    userDefinedDate: date,
    name: defaultName(title),
    tags: tag === undefined ? [] : [tag.normalize('NFC')],
  };
}

/** The patient id that a folder's name begins with, before its first underscore. */
function patientOf(name: string | undefined): string | undefined {
  const digits = /^(\d+)_/.exec(name ?? '')?.[1];
  const id = digits === undefined ? undefined : asId(digits);
  return id === undefined ? undefined : String(id);
}

function refused(file: string, problem: string, patient: string = UNKNOWN): UploadRow {
  return { file, patient, userDefinedDate: UNKNOWN, tags: [], problem };
}
