import { usageFailure } from '../../failure.ts';
import { withoutExtension } from '../uploads/draft.ts';
import { UNKNOWN, type UploadRow } from '../uploads/uploadrow.ts';
import { CONVENTION, patientFolderRow } from './patientfolders.ts';
import { matchPattern, type PathFacts, type Pattern, readPattern } from './pattern.ts';

/** The layout whose files are refused, not reviewed, where they do not follow it. */
export const PATIENT_FOLDERS = 'patient-folders';

/** Patterns of a layout with a name: a tag and a date may be missing. */
function preset(patient: string): readonly string[] {
  return ['{tag}/{date:YYYY-MM-DD}-{name}', '{date:YYYY-MM-DD}-{name}', '{tag}/{name}', '{name}'].map(
    (rest) => `${patient}/${rest}`,
  );
}

const PRESETS: Readonly<Record<string, readonly string[]>> = {
  'chart-folders': preset('{chartNumber}_{*}'),
  'name-folders': preset('{last}, {first} {birthDate}'),
};

const NO_FIT = 'No pattern of --layout fits the path.';

/** Layouts with a name, and the paths that they take; `[tag/]` may be missing. */
export const NAMED_LAYOUTS: Readonly<Record<string, string>> = {
  [PATIENT_FOLDERS]: CONVENTION,
  'chart-folders': 'CHART_anything/[tag/]YYYY-MM-DD-name.ext',
  'name-folders': 'Last, First BIRTHDATE/[tag/]YYYY-MM-DD-name.ext',
};

/** How paths say whose files are: the conventions are tried in their order, the first that fits counts. */
export type Layouts = readonly (typeof PATIENT_FOLDERS | Pattern)[];

/** Reads the values of `--layout`, names of layouts or patterns. Throws a Failure with exit code 2. */
export function readLayouts(values: readonly string[]): Layouts {
  return values.flatMap((value): Layouts => {
    if (value === PATIENT_FOLDERS) return [PATIENT_FOLDERS];
    const patterns = Object.hasOwn(PRESETS, value) ? PRESETS[value] : undefined;
    if (patterns === undefined && !value.includes('{'))
      throw usageFailure(`--layout ${JSON.stringify(value)} is neither a pattern nor a layout.`, {
        source: '--layout',
        hint: `Layouts: ${Object.keys(NAMED_LAYOUTS).join(', ')}. A pattern has fields, such as {chartNumber}/{name}.`,
      });
    return (patterns ?? [value]).map(readPattern);
  });
}

/** A file in a folder that was given. */
export interface FolderFile {
  /** As given. */
  readonly file: string;
  /** The folder that was given. */
  readonly root: string;
  /** Its path below that folder, `/` between folders. */
  readonly inside: string;
}

/**
 * The row of a file: its `facts`, for which a patient has to be found, or why it is for review. With `patient-folders`
 * alone, the row that its folders give. `folder`: where relative paths start from.
 */
export function layoutRow(found: FolderFile, layouts: Layouts, folder: string): UploadRow {
  const { file, root, inside } = found;
  const path = withoutExtension(inside);
  for (const layout of layouts) {
    const facts = layout === PATIENT_FOLDERS ? folderFacts(file, root, folder) : matchPattern(layout, path);
    if (facts !== undefined) return { file, ...described(facts), facts };
  }
  return { file, patient: UNKNOWN, tags: [], review: { reason: NO_FIT, candidates: [], unfit: inside } };
}

function folderFacts(file: string, root: string, folder: string): PathFacts | undefined {
  const { problem, patient, userDefinedDate, name, tags } = patientFolderRow(file, root, folder);
  if (problem !== undefined || patient === undefined) return undefined;
  return { id: patient, tags, ...(userDefinedDate && { date: userDefinedDate }), ...(name && { name }) };
}

/** What a path says of the document itself. */
function described({ date, name, tags }: PathFacts): Pick<UploadRow, 'userDefinedDate' | 'name' | 'tags'> {
  return { tags, ...(date !== undefined && { userDefinedDate: date }), ...(name !== undefined && { name }) };
}
