import { ENVIRONMENT } from './environment.ts';
import { EXIT_CODES } from './exitcodes.ts';
import { EXPORTS } from './exports.ts';
import { FILTERS } from './filters.ts';
import { OPERATIONS } from './operations.ts';
import { OUTPUT } from './output.ts';
import type { Page } from './page.ts';
import { PAGING } from './paging.ts';
import { RECURRENCE } from './recurrence.ts';
import { RELIABILITY } from './reliability.ts';
import { STREAM } from './stream.ts';

/** The pages of `molar help`, in the order in which they are listed. */
export const PAGES: readonly Page[] = [
  FILTERS,
  OUTPUT,
  EXIT_CODES,
  ENVIRONMENT,
  PAGING,
  EXPORTS,
  RECURRENCE,
  STREAM,
  OPERATIONS,
  RELIABILITY,
];
