import { basename, extname } from 'node:path';
import {
  canonicalMimeType,
  isImage,
  JPEG_ALIASES,
  MIME_TYPES,
  type MimeType,
  mediaTypeOf,
} from '../../../catalog/resources/documentnames.ts';
import { type Failure, usageFailure } from '../../failure.ts';
import { COMPOUND_SIGNATURE, rootEntryNames } from './compoundfile.ts';
import { type ContentReader, type ContentSource, readFully } from './source.ts';

/** A file's type; `note` says that the content does not show it. */
export interface FileType {
  readonly type: MimeType;
  readonly note?: string;
}

/** The types that documents may have, as a sentence for messages. */
export const SUPPORTED_TYPES = `Supported: ${MIME_TYPES.join(', ')} (JPEG also as ${JPEG_ALIASES.join(', ')}).`;

/** A type by its name or alias, and what claims it, for messages: `--mime-type`, `its extension`. */
export interface TypeClaim {
  readonly type: string;
  readonly by: string;
}

interface Claim extends TypeClaim {
  readonly type: MimeType;
}

/**
 * The type of a file: from its content, then from its extension. A type that was declared (`--mime-type`) or that the
 * extension names has to agree; a declared one that the content confirms overrules the extension. Throws a Failure with
 * exit code 2 that says what each of them says, or lists the supported types.
 */
export async function readFileType(source: ContentSource, declared?: TypeClaim): Promise<FileType> {
  const { label } = source;
  const claim = claimOf(label, declared);
  const detected = await detectType(source);
  if ('other' in detected) {
    const doubt = claim ? ` although ${claim.by} says ${claim.type}` : '';
    throw refused(label, `its content is ${detected.other}${doubt}. ${SUPPORTED_TYPES}`);
  }
  if ('unknown' in detected) return typeByClaim(label, claim);
  const { types } = detected;
  if (claim !== undefined && types.includes(claim.type)) return { type: claim.type };
  const content = types.join(' or ');
  if (claim !== undefined) {
    const remedy = declared === undefined ? `Rename it, or declare it as ${types[0]}` : `Correct ${declared.by}`;
    throw refused(label, `its content is ${content} but ${claim.by} says ${claim.type}. ${remedy}.`);
  }
  const [only, ...others] = types;
  if (only !== undefined && others.length === 0) return { type: only };
  throw refused(label, `its content may be ${content}. Declare which, or give it the extension.`);
}

function typeByClaim(label: string, claim: Claim | undefined): FileType {
  if (claim === undefined)
    throw refused(label, `neither its content nor its extension shows a supported type. ${SUPPORTED_TYPES}`);
  const { by, type } = claim;
  if (isImage(type)) throw refused(label, `${by} says ${type} but its content is not a ${type} image.`);
  return { type, note: `${label}: its content shows no type; taken as ${type} because ${by} says so.` };
}

function claimOf(label: string, declared: TypeClaim | undefined): Claim | undefined {
  const type = canonicalMimeType(declared?.type ?? extname(basename(label)).slice(1));
  if (type !== undefined) return { type, by: declared?.by ?? 'its extension' };
  if (declared === undefined) return undefined;
  throw usageFailure(`${declared.by} ${declared.type} is not a document type. ${SUPPORTED_TYPES}`);
}

function refused(label: string, what: string): Failure {
  const hint = 'Convert the file, or correct its name or --mime-type.';
  return usageFailure(`${label}: ${what}`, { source: label, hint });
}

/**
 * What the bytes say. `types`: one type, or those between which only the extension can tell (compound files whose
 * directory says nothing, Office files with a password). `other`: something that documents cannot hold.
 */
type Detected = { readonly types: readonly MimeType[] } | { readonly other: string } | { readonly unknown: true };

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

async function detectType(source: ContentSource): Promise<Detected> {
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
  const names = (await rootEntryNames(reader)) ?? [];
  return names.map((name) => COMPOUND_ENTRIES[name.toLowerCase()]).find(Boolean) ?? COMPOUND_TYPES;
}

async function detectByLibrary(reader: ContentReader, size: number): Promise<Detected> {
  const { fileTypeFromBlob } = await import('file-type');
  const found = await fileTypeFromBlob(new ContentBlob(reader, 0, size));
  if (found === undefined) return { unknown: true };
  const type = MIME_TYPES.find((candidate) => mediaTypeOf(candidate) === found.mime);
  return type === undefined ? { other: `${found.ext.toUpperCase()} (${found.mime})` } : { types: [type] };
}

/** A part of some content as a Blob of which only the requested bytes are read. */
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
