import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import { JPEG_ALIASES, MIME_TYPES } from '../../catalog/resources/documentnames.ts';
import { documents } from '../../catalog/resources/documents.ts';
import { VARIANTS } from '../../core/documents/links/documentlink.ts';
import { LAYOUTS } from '../../core/documents/uploads/layout.ts';
import type { UploadInput } from '../../core/documents/uploads/uploadinput.ts';
import type { UploadRow } from '../../core/documents/uploads/uploadrow.ts';
import { dryRunFlag } from './body.ts';
import { connectionFlags, talkFlags } from './connection.ts';
import { filterFlags } from './filters.ts';
import { outputFlags } from './output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './values.ts';

/** Default concurrent downloads. */
export const DOWNLOADS = 8;
/** Default concurrent uploads: a server waits for its disk once for all documents that arrive together. */
export const UPLOADS = 16;
/** Maximum concurrent transfers. */
export const MAX_CONCURRENCY = 32;

/** `--concurrency`, with its default. */
function concurrencyFlag(usual: number) {
  return Flags.string({
    helpValue: 'N',
    summary: `Files at the same time, 1 to ${MAX_CONCURRENCY}; ${usual} when not given`,
  });
}

const { out: _, ...reportFlags } = outputFlags;

/** Flags of `molar documents download`. */
export const downloadFlags: FlagInput = {
  ...filterFlags(operationOf(documents, 'list').filters ?? {}),
  all: Flags.boolean({ helpGroup: 'FILTER', summary: 'Every document of the organization' }),
  out: Flags.string({ helpValue: 'FILE', summary: 'File to write one document to; - for standard output' }),
  dir: Flags.string({ helpValue: 'DIR', summary: 'Folder to write to; the current one when not given' }),
  variant: Flags.string({
    helpValue: VARIANTS.join('|'),
    options: VARIANTS,
    summary: 'What to download; the original when not given',
  }),
  thumbnail: Flags.boolean({ summary: 'Same as --variant thumbnail' }),
  overwrite: Flags.boolean({ aliases: ['force'], summary: 'Replace files that exist' }),
  concurrency: concurrencyFlag(DOWNLOADS),
  ...reportFlags,
  ...talkFlags,
  ...connectionFlags,
};

/** Default file of `--results` (contract §2). */
export const RESULTS = 'molar-results.csv';

/** Flags of `molar documents upload`. */
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
  recursive: Flags.boolean({ helpGroup: 'BATCH', summary: 'Go into folders inside folders' }),
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
  yes: Flags.boolean({ helpGroup: 'BATCH', summary: 'Carry out the plan of --layout without asking' }),
  results: Flags.string({
    helpGroup: 'BATCH',
    helpValue: 'FILE',
    default: RESULTS,
    summary: 'CSV that every outcome is written to',
  }),
  concurrency: { ...concurrencyFlag(UPLOADS), helpGroup: 'BATCH' },
  ...dryRunFlag,
  ...outputFlags,
  ...talkFlags,
  ...connectionFlags,
};

/** What the flags set for every file. */
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

/** Where the flags take the files from. */
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
