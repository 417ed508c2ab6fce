import type { Row } from '../pages/walk.ts';

/** Turns records into text, page by page; holds no more than a page. Writing it is the business of a sink. */
export interface Formatter {
  /** Before the first record, also when there is none. */
  readonly begin: () => string;
  readonly rows: (rows: readonly Row[]) => string;
  readonly end: () => string;
}

export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;

export type Format = (typeof FORMATS)[number];

/** The format that a file name asks for by its extension, where it has a known one. */
export function formatOfFile(path: string): Format | undefined {
  const extension = /\.(csv|json|ndjson|jsonl)$/i.exec(path)?.[1]?.toLowerCase();
  return extension === 'jsonl' ? 'ndjson' : (extension as Format | undefined);
}
