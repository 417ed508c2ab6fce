import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { JPEG_ALIASES, MIME_TYPES } from '../../catalog/resources/documentnames.ts';
import { LAYOUTS } from '../../core/documents/uploads/layout.ts';
import type { UploadInput } from '../../core/documents/uploads/uploadinput.ts';
import type { UploadRow } from '../../core/documents/uploads/uploadrow.ts';
import { dryRunFlag } from './body.ts';
import { connectionFlags, talkFlags } from './connection.ts';
import { concurrencyFlag, UPLOADS } from './documents.ts';
import { outputFlags } from './output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './values.ts';

/** The results file where no other is named (contract §2). */
export const RESULTS = 'molar-results.csv';

export const uploadFlags: FlagInput = {
  patient: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'ID',
    summary: 'Patient who owns the documents; without an owner the organization does',
  }),
  'perio-exam': Flags.string({ helpGroup: 'DOCUMENT', helpValue: 'ID', summary: 'Perio exam that owns the documents' }),
  tag: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'TAG',
    multiple: true,
    multipleNonGreedy: true,
    summary: 'Tag; may be repeated',
  }),
  name: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'NAME',
    summary: "Name of one file; otherwise the file's own without its extension",
  }),
  'mime-type': Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'TYPE',
    summary: `Type, where content and extension do not show it: ${[...MIME_TYPES, ...JPEG_ALIASES].join(', ')}`,
  }),
  'user-defined-date': Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'YYYY-MM-DD',
    summary: 'Date to file it under, such as that of the scan',
  }),
  crop: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'X,Y,WIDTH,HEIGHT',
    summary: 'Crop of an image in pixels; goes with --ratio',
  }),
  ratio: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'R',
    summary: 'Scale applied after --crop; 1 keeps the size',
  }),
  manifest: Flags.string({
    helpGroup: 'BATCH',
    helpValue: 'FILE',
    summary: 'CSV that lists the files, one a line; also the results of an earlier run',
  }),
  recursive: Flags.boolean({ helpGroup: 'BATCH', summary: 'Include folders inside folders' }),
  include: Flags.string({
    helpGroup: 'BATCH',
    helpValue: 'GLOB',
    multiple: true,
    multipleNonGreedy: true,
    summary: "Take only files that match, such as '*.pdf', from folders; may be repeated",
  }),
  layout: Flags.string({
    helpGroup: 'BATCH',
    helpValue: LAYOUTS.join('|'),
    options: LAYOUTS,
    summary: 'Take patient, tag, date and name from the path: PATIENTID_anything/[tag/]YYYY-MM-DD-name.ext',
  }),
  check: Flags.boolean({ helpGroup: 'BATCH', summary: 'Check the files, list them, and upload none' }),
  yes: Flags.boolean({ helpGroup: 'BATCH', summary: 'Carry out the plan of --layout without asking for confirmation' }),
  results: Flags.string({
    helpGroup: 'BATCH',
    helpValue: 'FILE',
    default: RESULTS,
    summary: 'CSV file that the outcome of each file is written to',
  }),
  concurrency: { ...concurrencyFlag(UPLOADS), helpGroup: 'BATCH' },
  ...dryRunFlag,
  ...outputFlags,
  ...talkFlags,
  ...connectionFlags,
};

/** What the flags say about every file. */
export function uploadDefaults(flags: FlagValues): Partial<UploadRow> {
  const given = (name: string, key: keyof UploadRow) => {
    const value = textFlag(flags, name);
    return value === undefined ? {} : { [key]: value.trim() };
  };
  return {
    ...given('patient', 'patient'),
    ...given('perio-exam', 'perioExam'),
    ...given('name', 'name'),
    ...given('mime-type', 'mimeType'),
    ...given('user-defined-date', 'userDefinedDate'),
    ...given('crop', 'crop'),
    ...given('ratio', 'ratio'),
    tags: textFlags(flags, 'tag'),
  };
}

/** What the flags say about where the files come from. */
export function uploadFiles(flags: FlagValues): Pick<UploadInput, 'manifest' | 'recursive' | 'include' | 'layout'> {
  const manifest = textFlag(flags, 'manifest');
  const layout = LAYOUTS.find((name) => name === textFlag(flags, 'layout'));
  return {
    recursive: isOn(flags, 'recursive'),
    include: textFlags(flags, 'include'),
    ...(manifest !== undefined && { manifest }),
    ...(layout !== undefined && { layout }),
  };
}
