import * as Flags from '@oclif/core/flags';
import type { FlagInput } from '@oclif/core/interfaces';
import { operationOf } from '../../catalog/catalog.ts';
import { documents, VARIANTS } from '../../catalog/resources/documents.ts';
import { connectionFlags, talkFlags } from './connection.ts';
import { filterFlags } from './filters.ts';
import { outputFlags } from './output.ts';

/** Files that are downloaded at the same time when nothing else is said. */
export const DOWNLOADS = 8;
/** The same for uploads: a server waits for its disk once for all documents that arrive together. */
export const UPLOADS = 16;
export const MAX_CONCURRENCY = 32;

/** How many files at the same time; `usual` when not given. */
export function concurrencyFlag(usual: number) {
  return Flags.string({
    helpValue: 'N',
    summary: `Files at the same time, 1 to ${MAX_CONCURRENCY}; ${usual} when not given`,
  });
}

const { out: _, ...reportFlags } = outputFlags;

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
