import type { Row } from '../pages/page.ts';

/**
 * Turns records into text, or the bytes of text in UTF-8, page by page; holds no more than a page. Writing it is the
 * business of a sink.
 */
export interface Formatter<Text extends string | Uint8Array = string> {
  /** Before the first record, also when there is none. */
  readonly begin: () => string;
  /** Whole pages may be given to it: what it makes of them is not kept where garbage is collected. */
  readonly takesPages?: true;
  /** Told a page before its records come in slices. */
  readonly page?: (rows: readonly Row[]) => void;
  readonly rows: (rows: readonly Row[]) => Text;
  readonly end: () => string;
}

/** Forms that every command has. */
export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;

/** Forms that some commands have: xlsx lists and reports, html two reports (contract §2). */
export const DOCUMENT_FORMATS = ['xlsx', 'html'] as const;

export type Format = (typeof FORMATS)[number] | (typeof DOCUMENT_FORMATS)[number];

/** The format that a file name asks for by its extension, where it has a known one. */
export function formatOfFile(path: string): Format | undefined {
  const extension = /\.(csv|json|ndjson|jsonl|xlsx|html|htm)$/i.exec(path)?.[1]?.toLowerCase();
  if (extension === 'jsonl') return 'ndjson';
  return extension === 'htm' ? 'html' : (extension as Format | undefined);
}
