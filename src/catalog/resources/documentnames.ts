import type { Kind } from '../fields/kind.ts';
import { choice, codePoints, text } from '../fields/text.ts';

/** File types of documents: canonical extension, aliases of the type's name, media type, and whether it is an image. */
const TYPES = {
  PDF: { media: 'application/pdf', image: false },
  JPEG: { media: 'image/jpeg', image: true },
  PNG: { media: 'image/png', image: true },
  GIF: { media: 'image/gif', image: true },
  DOC: { media: 'application/msword', image: false },
  DOCX: { media: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', image: false },
  PPT: { media: 'application/vnd.ms-powerpoint', image: false },
  PPTX: { media: 'application/vnd.openxmlformats-officedocument.presentationml.presentation', image: false },
  XLS: { media: 'application/vnd.ms-excel', image: false },
  XLSX: { media: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', image: false },
  MSG: { media: 'application/vnd.ms-outlook', image: false },
} as const;

export type MimeType = keyof typeof TYPES;

export const MIME_TYPES = Object.keys(TYPES) as MimeType[];

/** Names that are normalized to JPEG (specification, Document rule 4). */
export const JPEG_ALIASES = ['JPG', 'JPE', 'JIF', 'JFIF', 'JFI'] as const;

export const NAME_LIMIT = 70;

/** The canonical type of a name or alias in any letter case, undefined for any other. */
export function canonicalMimeType(name: string): MimeType | undefined {
  const upper = name.trim().toUpperCase();
  if ((JPEG_ALIASES as readonly string[]).includes(upper)) return 'JPEG';
  return MIME_TYPES.find((type) => type === upper);
}

export function isImage(type: MimeType): boolean {
  return TYPES[type].image;
}

export function mediaTypeOf(type: MimeType): string {
  return TYPES[type].media;
}

/** A document's type by its short name, aliases normalized. */
export function mimeType(): Kind<MimeType> {
  const listed = choice([...MIME_TYPES, ...JPEG_ALIASES]);
  return {
    ...listed,
    read(input, at, context) {
      const name = listed.read(input, at, context);
      return name && canonicalMimeType(name);
    },
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are what is refused.
const FORBIDDEN = /[/\\\u0000-\u001f\u007f-\u009f]/;

/**
 * A document name as sent. Its length is checked with the type known, by `readBaseName`, since an extension that
 * already fits the type does not count (D36).
 */
export function documentName(): Kind<string> {
  const base = text({
    min: 1,
    rule: (name) => (FORBIDDEN.test(name) ? 'must not contain /, \\ or control characters.' : undefined),
  });
  return { ...base, schema: { type: 'string', minLength: 1 } };
}

/** The base of a name: one extension that already fits the type is taken off (D36). */
export function baseNameOf(name: string, type: MimeType): string {
  const dot = name.lastIndexOf('.');
  if (dot < 0 || canonicalMimeType(name.slice(dot + 1)) !== type) return name;
  return name.slice(0, dot).trim();
}

/** The base name to send, without any extension that fits the type: no service can then take or add one too many (D50). */
export function sentBaseName(name: string, type: MimeType): string {
  const base = baseNameOf(name, type);
  return base === name ? name : sentBaseName(base, type);
}

/** Whether a name ends in an extension of a type of documents. */
export function endsInKnownType(name: string): boolean {
  return name.includes('.') && canonicalMimeType(name.slice(name.lastIndexOf('.') + 1)) !== undefined;
}

/** What is wrong with a base name, or undefined (specification: 1–70 characters). */
export function baseNameProblem(base: string): string | undefined {
  const length = codePoints(base);
  if (length >= 1 && length <= NAME_LIMIT) return undefined;
  return `name must have 1 to ${NAME_LIMIT} characters before the extension, it has ${length}.`;
}

export function storedName(base: string, type: MimeType): string {
  return `${base}.${type.toLowerCase()}`;
}
