import type { IncomingResponse } from '../../transport/send.ts';

/** A hash of a file that the server told: `algorithm` as node:crypto calls it, `value` in lower-case hex. */
export interface ToldDigest {
  readonly algorithm: 'sha256' | 'sha512' | 'md5';
  readonly value: string;
}

const BYTES = { sha256: 32, sha512: 64, md5: 16 } as const;

const NAMES: Readonly<Record<string, ToldDigest['algorithm']>> = {
  'sha-256': 'sha256',
  sha256: 'sha256',
  'sha-512': 'sha512',
  sha512: 'sha512',
  md5: 'md5',
};

/** Best first: SHA-256 is counted anyway. */
const ORDER: readonly ToldDigest['algorithm'][] = ['sha256', 'sha512', 'md5'];

/**
 * The hash of the whole file that an answer tells, undefined when it tells none that is understood: `Repr-Digest`
 * (RFC 9530), `Digest` (RFC 3230) and what object stores send; `Content-Digest` and `Content-MD5` only where the body
 * is the whole file (`status` 200).
 */
export function toldDigest(status: number, headers: IncomingResponse['headers']): ToldDigest | undefined {
  const told = [
    ...listed(headers['repr-digest']),
    ...listed(headers.digest),
    ...listed(headers['x-goog-hash']),
    ...one('sha256', headers['x-amz-checksum-sha256']),
    ...(status === 200 ? [...listed(headers['content-digest']), ...one('md5', headers['content-md5'])] : []),
  ];
  return ORDER.flatMap((algorithm) => told.find((digest) => digest.algorithm === algorithm) ?? [])[0];
}

/** `sha-256=:BASE64:, md5=BASE64`: both spellings, with colons (RFC 9530) and without. */
function listed(header: string | undefined): ToldDigest[] {
  return (header ?? '').split(',').flatMap((entry) => {
    const [, name = '', text = ''] = /^\s*([\w-]+)=:?([A-Za-z0-9+/]+=*):?\s*$/.exec(entry) ?? [];
    const algorithm = NAMES[name.toLowerCase()];
    return algorithm === undefined ? [] : one(algorithm, text);
  });
}

/** A value that has not the length of its hash is another thing: that of a file in parts, for one. */
function one(algorithm: ToldDigest['algorithm'], base64: string | undefined): ToldDigest[] {
  const text = base64?.trim() ?? '';
  const bytes = Buffer.from(text, 'base64');
  return /^[A-Za-z0-9+/]+=*$/.test(text) && bytes.length === BYTES[algorithm]
    ? [{ algorithm, value: bytes.toString('hex') }]
    : [];
}
