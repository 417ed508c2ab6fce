import { X509Certificate } from 'node:crypto';
import { decodePem } from '../../text/decode.ts';
import { readInput, unusable } from './inputs.ts';

/**
 * What TLS needs to ask for a certificate without requiring one. A wrong one does not end the handshake, so that a token
 * counts nevertheless: `Certificates.grantOf` refuses it.
 */
export function clientTls(ca: string) {
  return { ca, requestCert: true, rejectUnauthorized: false } as const;
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of authorities in a PEM file. Throws a Refusal (exit 2) for a file without any, or with others. */
export async function readAuthorities(file: string): Promise<string> {
  const flag = '--tls-client-ca';
  const text = await readInput(file, flag, decodePem);
  const found = text.match(CERTIFICATES) ?? [];
  if (found.length === 0) throw unusable(flag, `${file}: it has no certificate in PEM`);
  // A certificate that may not sign others would be taken for that of a client, and no other would be.
  if (found.every(isAuthority)) return text;
  throw unusable(flag, `${file}: each certificate in it must be that of a certificate authority`);
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}
