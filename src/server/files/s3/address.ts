import { StoreUnusable } from '../../store/store.ts';

/** A place in an object storage: `s3://bucket/prefix` (contract §6). */
export interface BucketAddress {
  readonly bucket: string;
  /** Empty, or ending with a slash. */
  readonly prefix: string;
}

/** Keys have at most 1,024 bytes; a file's own part of one takes fewer than 100. */
const MAX_PREFIX = 900;

/** Reads `s3://bucket/prefix`; the prefix may be left out. Throws `StoreUnusable`. */
export function readAddress(text: string): BucketAddress {
  const [, bucket = '', rest = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(text) ?? [];
  const prefix = rest.replace(/\/$/, '');
  const segments = prefix === '' ? [] : prefix.split('/');
  // S3's own rule since 2018; older and other storages also allow capitals and low lines.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{2,254}$/.test(bucket)) {
    throw unreadable(text, 'the bucket has 3 or more letters, digits, dots, hyphens and low lines');
  }
  if (segments.some((segment) => !/^[A-Za-z0-9!_.*'()-]+$/.test(segment) || /^\.\.?$/.test(segment))) {
    throw unreadable(text, "a prefix has letters, digits and !_.*'()- between single slashes");
  }
  if (prefix.length > MAX_PREFIX) throw unreadable(text, `a prefix has at most ${MAX_PREFIX} characters`);
  return { bucket, prefix: segments.map((segment) => `${segment}/`).join('') };
}

function unreadable(text: string, rule: string): StoreUnusable {
  // Somebody may have written credentials into it.
  const shown = text.includes('@') ? 's3://…' : text;
  return new StoreUnusable(`${shown} is no address for files: ${rule}.`, 'Write --files s3://bucket/prefix.');
}
