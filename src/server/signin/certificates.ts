import type { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { refusal } from '../../catalog/failures.ts';
import type { Grant } from '../tokens/tokens.ts';
import { type Claims, grantId, isName, type RightsOf } from './rules.ts';

/** How certificates of clients are checked. */
export interface Certificates {
  /** The authorities whose certificates are taken, in PEM. */
  readonly ca: Buffer;
  readonly rights: RightsOf;
}

/**
 * What TLS needs to ask for a certificate without requiring one. A wrong one does not end the handshake, so that a token
 * counts nevertheless: `certificateGrant` refuses it.
 */
export function clientTls({ ca }: Pick<Certificates, 'ca'>) {
  return { ca, requestCert: true, rejectUnauthorized: false } as const;
}

/**
 * To be called when a handshake is complete. A connection could otherwise change its certificate later, and the result of
 * the first check would stand for the second certificate.
 */
export function keepCertificate(socket: TLSSocket): void {
  socket.disableRenegotiation();
}

/** Grants by connection: nothing about a certificate changes on it but the time. */
const grants = new WeakMap<Socket, Grant>();

/** What the holder of the connection's certificate may do; undefined without one. Throws a Refusal (401) for a wrong one. */
export function certificateGrant({ rights }: Certificates, socket: Socket): Grant | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const known = grants.get(socket);
  if (known !== undefined) return known;
  // A resumed session without a certificate counts as authorized, so that alone says nothing.
  const certificate = socket.getPeerCertificate() as PeerCertificate | null;
  if (!certificate?.raw) return undefined;
  if (!socket.authorized) {
    const description = `The client certificate is not accepted: ${String(socket.authorizationError)}.`;
    throw refusal('auth.certificate_refused', null, description);
  }
  const claims = claimsOf(certificate);
  const name = isName(claims.CN) ? claims.CN : claims.fingerprint;
  const grant: Grant = {
    ...rights(claims),
    id: grantId('certificate', claims.CN, claims.O, claims.OU),
    who: `certificate ${name}`,
    label: null,
    createdAt: new Date(certificate.valid_from).toISOString(),
    expiresAt: new Date(certificate.valid_to).toISOString(),
  };
  grants.set(socket, grant);
  return grant;
}

/** The parts of its subject that rules may ask for, lists where there are several, and its fingerprint (contract §8). */
function claimsOf({ subject, fingerprint256 }: PeerCertificate): Claims & { readonly fingerprint: string } {
  const { CN, O, OU } = subject;
  return { CN, O, OU, fingerprint: fingerprint256.replaceAll(':', '').toLowerCase() };
}
