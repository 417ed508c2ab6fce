import { MIME_TYPES, type MimeType, mediaTypeOf } from '../../../catalog/resources/documentnames.ts';
import { COMPOUND_SIGNATURE, rootEntryNames } from './compoundfile.ts';
import { type ContentReader, type ContentSource, readFully } from './source.ts';

/**
 * What the bytes say. `types`: one type, or those between which only the extension can tell (compound files whose
 * directory says nothing, Office files with a password). `other`: something that documents cannot hold.
 */
export type Detected =
  | { readonly types: readonly MimeType[] }
  | { readonly other: string }
  | { readonly unknown: true };

const SIGNATURES: readonly (readonly [Buffer, MimeType])[] = [
  [Buffer.from('%PDF-', 'latin1'), 'PDF'],
  [Buffer.from('ffd8ff', 'hex'), 'JPEG'],
  [Buffer.from('89504e470d0a1a0a', 'hex'), 'PNG'],
  [Buffer.from('GIF87a', 'latin1'), 'GIF'],
  [Buffer.from('GIF89a', 'latin1'), 'GIF'],
];

/** Entries below the root of a compound file that only one kind of document has. */
const COMPOUND_ENTRIES: Readonly<Record<string, readonly MimeType[]>> = {
  worddocument: ['DOC'],
  workbook: ['XLS'],
  book: ['XLS'],
  'powerpoint document': ['PPT'],
  '__properties_version1.0': ['MSG'],
  encryptedpackage: ['DOCX', 'XLSX', 'PPTX'],
};

const COMPOUND_TYPES: readonly MimeType[] = ['DOC', 'XLS', 'PPT', 'MSG'];

/** Readers of PDF accept the header anywhere in the first kilobyte, and scanners do write bytes before it. */
const PDF_SEARCH = 1024;

/** Looks at the content only. Rejects as reading does. */
export async function detectType(source: ContentSource): Promise<Detected> {
  const reader = await source.open();
  try {
    const head = await readFully(reader, 0, PDF_SEARCH);
    const signature = SIGNATURES.find(([bytes]) => head.subarray(0, bytes.length).equals(bytes));
    if (signature !== undefined) return { types: [signature[1]] };
    if (head.subarray(0, 8).equals(COMPOUND_SIGNATURE)) return { types: await compoundTypes(reader) };
    const detected = await detectByLibrary(reader, source.size);
    return 'unknown' in detected && head.includes('%PDF-', 0, 'latin1') ? { types: ['PDF'] } : detected;
  } finally {
    await reader.close();
  }
}

async function compoundTypes(reader: ContentReader): Promise<readonly MimeType[]> {
  for (const name of (await rootEntryNames(reader)) ?? []) {
    const types = COMPOUND_ENTRIES[name.toLowerCase()];
    if (types !== undefined) return types;
  }
  return COMPOUND_TYPES;
}

async function detectByLibrary(reader: ContentReader, size: number): Promise<Detected> {
  const { fileTypeFromBlob } = await import('file-type');
  const found = await fileTypeFromBlob(new ContentBlob(reader, 0, size));
  if (found === undefined) return { unknown: true };
  const type = MIME_TYPES.find((candidate) => mediaTypeOf(candidate) === found.mime);
  return type === undefined ? { other: `${found.ext.toUpperCase()} (${found.mime})` } : { types: [type] };
}

/** A part of some content as a Blob that is read only where it is asked for. */
class ContentBlob extends Blob {
  override readonly size: number;
  readonly #reader: ContentReader;
  readonly #start: number;

  constructor(reader: ContentReader, start: number, size: number) {
    super([]);
    this.#reader = reader;
    this.#start = start;
    this.size = size;
  }

  override slice(start = 0, end = this.size): Blob {
    return new ContentBlob(this.#reader, this.#start + start, Math.min(end, this.size) - start);
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    return Uint8Array.from(await readFully(this.#reader, this.#start, this.size)).buffer;
  }
}
