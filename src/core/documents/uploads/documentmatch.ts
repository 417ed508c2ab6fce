import { isPlainObject } from '../../../catalog/fields/kind.ts';
import { foldText } from '../../../catalog/filter/values.ts';
import { canonicalMimeType, JPEG_ALIASES } from '../../../catalog/resources/documentnames.ts';
import type { Row } from '../../pages/page.ts';
import type { DocumentOwner } from './draft.ts';

/** A document to look for: its owner, its name, its bytes, and the tags and the date that it was sent with. */
export interface SoughtDocument {
  readonly owner: DocumentOwner;
  /** With its extension, numbering aside. */
  readonly storedName: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  readonly source: { readonly size: number };
}

/** Whether a document is of the owner; one without that field was listed as the owner's. */
export function isOfOwner(document: Row, { owner }: SoughtDocument): boolean {
  const link = document[owner.field];
  return link === undefined || (isPlainObject(link) && String(link.id) === owner.id);
}

/**
 * Tells whether a name is the wanted one, or the one a server makes of it: numbered where it was taken, with or without
 * its extension, in any spelling of the type and in any letter case (specification, Document; D36).
 */
export function nameMatcher(wanted: string): (name: string | undefined) => boolean {
  const folded = foldText(wanted);
  const spellings = spellingsOf(folded.slice(folded.lastIndexOf('.') + 1)).map(escaped);
  const extension = `(?:\\.(?:${spellings.join('|')}))*`;
  const base = folded.replace(new RegExp(`${extension}$`), '');
  const pattern = new RegExp(`^${escaped(base)}${extension}(?: \\(\\d+\\))?${extension}$`);
  return (name) => name === undefined || pattern.test(foldText(name).trim());
}

function spellingsOf(extension: string): string[] {
  const type = canonicalMimeType(extension) ?? extension;
  return [type, ...(type === 'JPEG' ? JPEG_ALIASES : [])].map((name) => name.toLowerCase());
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/**
 * Whether a stored document has the wanted tags and date, as far as it has these fields; tags added since do not matter.
 * A date may be missing: the specification has none in the body of a POST.
 */
export function hasTagsAndDate(document: Row, { fields }: SoughtDocument): boolean {
  const { tags, userDefinedDate } = document;
  const folded = (each: unknown) => (Array.isArray(each) ? each : []).map((tag) => foldText(String(tag).trim()));
  const present = new Set(folded(tags));
  const hasTags = tags === undefined || folded(fields.tags).every((tag) => present.has(tag));
  const wanted = fields.userDefinedDate ?? userDefinedDate ?? null;
  return hasTags && (userDefinedDate ?? wanted) === wanted;
}
