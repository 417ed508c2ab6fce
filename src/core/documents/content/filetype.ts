import { basename, extname } from 'node:path';
import {
  canonicalMimeType,
  isImage,
  JPEG_ALIASES,
  MIME_TYPES,
  type MimeType,
} from '../../../catalog/resources/documentnames.ts';
import { type Failure, usageFailure } from '../../failure.ts';
import { detectType } from './detect.ts';
import type { ContentSource } from './source.ts';

/** A file's type; `note` tells that the content did not show it. */
export interface FileType {
  readonly type: MimeType;
  readonly note?: string;
}

export const SUPPORTED_TYPES = `Supported: ${MIME_TYPES.join(', ')} (JPEG also as ${JPEG_ALIASES.join(', ')}).`;

/** A type by its name or alias, and who says so for messages: `--mime-type`, `its extension`. */
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
  const claim = claimOf(source.label, declared);
  const detected = await detectType(source);
  if ('other' in detected) {
    const doubt = claim ? ` although ${claim.by} says ${claim.type}` : '';
    throw refused(source.label, `its content is ${detected.other}${doubt}. ${SUPPORTED_TYPES}`);
  }
  if ('unknown' in detected) return typeByClaim(source, claim);
  const [first, ...others] = detected.types;
  if (claim !== undefined && detected.types.includes(claim.type)) return { type: claim.type };
  if (claim === undefined && first !== undefined && others.length === 0) return { type: first };
  const content = detected.types.join(' or ');
  if (claim === undefined) {
    throw refused(source.label, `its content may be ${content}. Declare which, or give it the extension.`);
  }
  const remedy = declared === undefined ? `Rename it, or declare it as ${first}` : `Correct ${declared.by}`;
  throw refused(source.label, `its content is ${content} but ${claim.by} says ${claim.type}. ${remedy}.`);
}

function typeByClaim(source: ContentSource, claim: Claim | undefined): FileType {
  const { label } = source;
  if (claim === undefined) {
    throw refused(label, `neither its content nor its extension shows a supported type. ${SUPPORTED_TYPES}`);
  }
  if (isImage(claim.type)) {
    throw refused(label, `${claim.by} says ${claim.type} but its content is not a ${claim.type} image.`);
  }
  return {
    type: claim.type,
    note: `${label}: its content shows no type; taken as ${claim.type} because ${claim.by} says so.`,
  };
}

function claimOf(label: string, declared: TypeClaim | undefined): Claim | undefined {
  if (declared !== undefined) {
    const type = canonicalMimeType(declared.type);
    if (type === undefined)
      throw usageFailure(`${declared.by} ${declared.type} is not a document type. ${SUPPORTED_TYPES}`);
    return { type, by: declared.by };
  }
  const type = canonicalMimeType(extname(basename(label)).slice(1));
  return type && { type, by: 'its extension' };
}

function refused(label: string, what: string): Failure {
  const hint = 'Convert the file, or correct its name or --mime-type.';
  return usageFailure(`${label}: ${what}`, { source: label, hint });
}
