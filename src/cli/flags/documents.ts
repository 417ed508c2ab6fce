import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import { JPEG_ALIASES, MIME_TYPES } from '../../catalog/resources/documentnames.ts';
import { documents, VARIANTS } from '../../catalog/resources/documents.ts';
import { NAMED_LAYOUTS, PATIENT_FOLDERS, readLayouts } from '../../core/documents/layouts/layouts.ts';
import type { UploadOrder } from '../../core/documents/uploads/uploadprepare.ts';
import type { UploadRow } from '../../core/documents/uploads/uploadrow.ts';
import { usageFailure } from '../../core/failure.ts';
import { dryRunFlag } from './body.ts';
import { connectionFlags, talkFlags } from './connection.ts';
import { flagGroup } from './declare.ts';
import { filterFlags } from './filters.ts';
import { outputFlags } from './output.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './values.ts';

const plain = flagGroup();
const filter = flagGroup('FILTER');
const document = flagGroup('DOCUMENT');
const batch = flagGroup('BATCH');

/** Default concurrent downloads. */
export const DOWNLOADS = 8;
/** Default concurrent uploads: a server waits for its disk once for all documents that arrive together. */
export const UPLOADS = 16;
/** Maximum concurrent transfers. */
export const MAX_CONCURRENCY = 32;

/** `--concurrency`, with its default. */
function concurrencyFlag(usual: number) {
  return plain.text('N', `Files at the same time, 1 to ${MAX_CONCURRENCY}; ${usual} when not given`);
}

const { out: _, ...reportFlags } = outputFlags;

/** Flags of `molar documents download`. */
export const downloadFlags: FlagInput = {
  ...filterFlags(operationOf(documents, 'list').filters ?? {}),
  all: filter.toggle('Every document of the organization'),
  out: plain.text('FILE', 'File to write one document to; - for standard output'),
  dir: plain.text('DIR', 'Folder to write to; the current one when not given'),
  variant: plain.text(VARIANTS.join('|'), 'What to download; the original when not given', { options: VARIANTS }),
  thumbnail: plain.toggle('Same as --variant thumbnail'),
  overwrite: Flags.boolean({ aliases: ['force'], summary: 'Replace files that exist' }),
  concurrency: concurrencyFlag(DOWNLOADS),
  ...reportFlags,
  ...talkFlags,
  ...connectionFlags,
};

/** Default file of `--results` (contract §2). */
export const RESULTS = 'molar-results.csv';

/** Default file of `--review`. */
export const REVIEW = 'molar-review.csv';

/** Flags of `molar documents upload`. */
export const uploadFlags: FlagInput = {
  patient: document.text('ID', 'Patient who owns the documents; by default the organization owns them'),
  'perio-exam': document.text('ID', 'Perio exam that owns the documents'),
  tag: document.list('TAG', 'Tag; may be repeated'),
  name: document.text('NAME', "Name of one file; otherwise the file's own without its extension"),
  'mime-type': document.text(
    'TYPE',
    `Type, where content and extension do not show it: ${[...MIME_TYPES, ...JPEG_ALIASES].join(', ')}`,
  ),
  'user-defined-date': document.text('DATE', 'Date to file it under, such as that of the scan', { means: 'date' }),
  crop: document.text('X,Y,WIDTH,HEIGHT', 'Crop of an image in pixels; goes with --ratio'),
  ratio: document.text('R', 'Scale applied after --crop; 1 keeps the size'),
  manifest: batch.text('FILE', 'CSV that lists the files, one a line; also the results of an earlier run'),
  recursive: batch.toggle('Include folders inside folders'),
  include: batch.list('GLOB', 'Take only files that match, such as "*.pdf", from folders; may be repeated'),
  layout: batch.list(
    'PATTERN',
    `Take patient, tag, date and name from the path: ${Object.keys(NAMED_LAYOUTS).join(', ')}, or a pattern such as '{chartNumber}/{date} {name}'; may be repeated, the first that fits counts`,
  ),
  review: batch.text(
    'FILE',
    `CSV file for the files whose patient --layout PATTERN does not find; ${REVIEW} when not given`,
  ),
  check: batch.toggle('Check the files, list them, and upload none'),
  yes: batch.toggle('Carry out the plan of --layout without asking for confirmation'),
  results: batch.text('FILE', 'CSV file that the outcome of each file is written to', { default: RESULTS }),
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

/** Where the flags take the files from. Throws a Failure (exit 2) for a layout that is none. */
export function uploadFiles(flags: FlagValues): UploadFiles {
  const manifest = textFlag(flags, 'manifest');
  const review = textFlag(flags, 'review');
  const layouts = textFlags(flags, 'layout');
  if (review !== undefined && layouts.length === 0)
    throw usageFailure('--review goes with --layout, whose files it lists.', { source: '--review' });
  // As ever, files that do not follow patient-folders are refused, unless a review file is asked for.
  const isReviewed = review !== undefined || layouts.some((layout) => layout !== PATIENT_FOLDERS);
  return {
    recursive: isOn(flags, 'recursive'),
    include: textFlags(flags, 'include'),
    ...(manifest !== undefined && { manifest }),
    ...(layouts.length > 0 && { layouts: readLayouts(layouts), isReviewed }),
    ...(isReviewed && { review: review || REVIEW }),
  };
}

type UploadFiles = Pick<UploadOrder, 'manifest' | 'recursive' | 'include' | 'layouts' | 'isReviewed' | 'review'>;
