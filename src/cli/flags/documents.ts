import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { JPEG_ALIASES, MIME_TYPES } from '../../catalog/resources/documentnames.ts';
import { VARIANTS } from '../../core/documents/downloadfile.ts';
import type { UploadRow } from '../../core/documents/uploadrow.ts';
import { type FlagValues, textFlag, textFlags } from '../flagvalues.ts';
import { dryRunFlag } from './body.ts';
import { connectionFlags, talkFlags } from './connection.ts';
import { outputFlags } from './output.ts';

/** Files that are transferred at the same time when nothing else is said, and at most. */
export const CONCURRENCY = 4;
export const MOST_CONCURRENCY = 32;

/** Where the outcomes of uploads go when nothing else is said (contract §2). */
export const RESULTS = 'molar-results.csv';

const concurrency = Flags.string({
  helpValue: 'N',
  summary: `Files at the same time, 1 to ${MOST_CONCURRENCY}; ${CONCURRENCY} when not given`,
});

export const uploadFlags: FlagInput = {
  patient: Flags.string({
    helpGroup: 'DOCUMENT',
    helpValue: 'ID',
    summary: 'Patient who owns it; without an owner it is the organization',
  }),
  'perio-exam': Flags.string({ helpGroup: 'DOCUMENT', helpValue: 'ID', summary: 'Perio exam that owns it' }),
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
  'user-defined-date': Flags.string({ helpGroup: 'DOCUMENT', helpValue: 'YYYY-MM-DD', summary: 'A date of your own' }),
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
    summary: 'CSV that lists the files: file,name,patient,perioExam,tags,mimeType; or the results of an earlier run',
  }),
  results: Flags.string({
    helpGroup: 'BATCH',
    helpValue: 'FILE',
    default: RESULTS,
    summary: 'CSV that every outcome is written to',
  }),
  concurrency: { ...concurrency, helpGroup: 'BATCH' },
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

const { out: _, ...reportFlags } = outputFlags;

export const downloadFlags: FlagInput = {
  out: Flags.string({ helpValue: 'FILE', summary: 'File to write one document to; - for standard output' }),
  dir: Flags.string({ helpValue: 'DIR', summary: 'Folder to write to; the current one when not given' }),
  variant: Flags.string({
    helpValue: VARIANTS.join('|'),
    options: VARIANTS,
    summary: 'What to download; the original when not given',
  }),
  thumbnail: Flags.boolean({ summary: 'Same as --variant thumbnail' }),
  force: Flags.boolean({ summary: 'Replace files that exist' }),
  concurrency,
  ...reportFlags,
  ...talkFlags,
  ...connectionFlags,
};
