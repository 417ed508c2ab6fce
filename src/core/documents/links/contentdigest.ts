import type { IncomingResponse } from '../../transport/send.ts';

const BYTES = { sha256: 32, sha512: 64, md5: 16 } as const;

/** A digest of a file as the server reports it: `algorithm` as node:crypto calls it, `value` in lower-case hex. */
export interface ReportedDigest {
  readonly algorithm: keyof typeof BYTES;
  readonly value: string;
}

const NAMES: Readonly<Record<string, ReportedDigest['algorithm']>> = {
  'sha-256': 'sha256',
  sha256: 'sha256',
  'sha-512': 'sha512',
  sha512: 'sha512',
  md5: 'md5',
};

/** Best first: SHA-256 is computed anyway. */
const ORDER = ['sha256', 'sha512', 'md5'] as const;

/**
 * The digest of the complete file that a response reports, undefined when it reports none that is understood:
 * `Repr-Digest` (RFC 9530), `Digest` (RFC 3230) and what object stores send; `Content-Digest` and `Content-MD5` only
 * where the body is the complete file (`status` 200).
 */
export function reportedDigest(status: number, headers: IncomingResponse['headers']): ReportedDigest | undefined {
  const reported = [
    ...listed(headers['repr-digest']),
    ...listed(headers.digest),
    ...listed(headers['x-goog-hash']),
    ...one('sha256', headers['x-amz-checksum-sha256']),
    ...(status === 200 ? [...listed(headers['content-digest']), ...one('md5', headers['content-md5'])] : []),
  ];
  return ORDER.flatMap((algorithm) => reported.find((digest) => digest.algorithm === algorithm) ?? [])[0];
}

/** `sha-256=:BASE64:, md5=BASE64`: both spellings, with colons (RFC 9530) and without. */
function listed(header = ''): ReportedDigest[] {
  return header.split(',').flatMap((entry) => {
    const [, name = '', text = ''] = /^\s*([\w-]+)=:?([A-Za-z0-9+/]+=*):?\s*$/.exec(entry) ?? [];
    const algorithm = NAMES[name.toLowerCase()];
    return algorithm === undefined ? [] : one(algorithm, text);
  });
}

/** A value of another length is something else, such as the checksum of an object's parts. */
function one(algorithm: ReportedDigest['algorithm'], base64 = ''): ReportedDigest[] {
  const text = base64.trim();
  const bytes = Buffer.from(text, 'base64');
  const isDigest = /^[A-Za-z0-9+/]+=*$/.test(text) && bytes.length === BYTES[algorithm];
  return isDigest ? [{ algorithm, value: bytes.toString('hex') }] : [];
}
