import type { Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { refusal } from '../../catalog/failures.ts';
import type { Grant } from '../tokens/tokens.ts';
import { type Claims, grantId, isName, type RightsOf } from './rules.ts';

/** What is known of a certificate: it can be sent as JSON. */
type Certificate = Pick<PeerCertificate, 'subject' | 'fingerprint256' | 'valid_from' | 'valid_to'>;

/** A certificate as the handshake found it; `fault` is why it is not accepted. */
export interface Presented {
  readonly certificate: Certificate;
  readonly fault?: string | undefined;
}

/** The certificates of connections, as their handshakes found them, and what their holders may do. */
export class Certificates {
  private readonly presented = new Map<Socket, Presented>();

  constructor(private readonly rights: RightsOf) {}

  /**
   * Keeps the certificate of a connection, when its handshake is complete. A later handshake on it might bring another
   * certificate, for which the outcome of the first check would stand.
   */
  keep(socket: TLSSocket): void {
    // A connection that another process has decrypted has none of its own.
    const certificate = socket.getPeerCertificate?.() as PeerCertificate | null | undefined;
    // A resumed session without a certificate counts as authorized, so that alone says nothing.
    if (!certificate?.raw) return;
    const fault = socket.authorized ? undefined : String(socket.authorizationError);
    const { subject, fingerprint256, valid_from, valid_to } = certificate;
    this.accept(socket, { certificate: { subject, fingerprint256, valid_from, valid_to }, fault });
  }

  /** The certificate of a connection, for another process that serves it, too. */
  of(socket: Socket): Presented | undefined {
    return this.presented.get(socket);
  }

  /** Takes what another process of this server found in the handshake of a connection. */
  accept(socket: Socket, presented: Presented): void {
    this.presented.set(socket, presented);
    socket.once('close', () => this.presented.delete(socket));
  }

  /** Ends the connections that have one, since other authorities count now: who is still welcome connects again. */
  endAll(): void {
    for (const socket of this.presented.keys()) socket.destroy();
  }

  /**
   * What the holder of the connection's certificate may do; undefined without one. Throws a Refusal (401) for a wrong
   * one, and for one that has ended since the connection was made. `now` is in UTC milliseconds.
   */
  grantOf(socket: Socket, now: number): Grant | undefined {
    const kept = this.presented.get(socket);
    if (kept === undefined) return undefined;
    const { valid_from, valid_to } = kept.certificate;
    const fault = kept.fault ?? (Date.parse(valid_to) <= now ? 'CERT_HAS_EXPIRED' : undefined);
    if (fault !== undefined) {
      throw refusal('auth.certificate_refused', null, `The client certificate is not accepted: ${fault}.`);
    }
    const claims = claimsOf(kept.certificate);
    return {
      ...this.rights(claims),
      id: grantId('certificate', claims.CN, claims.O, claims.OU),
      who: `certificate ${isName(claims.CN) ? claims.CN : claims.fingerprint}`,
      label: null,
      createdAt: new Date(valid_from).toISOString(),
      expiresAt: new Date(valid_to).toISOString(),
    };
  }
}

/** The parts of its subject that rules may ask for, lists where there are several, and its fingerprint (contract §8). */
function claimsOf({ subject, fingerprint256 }: Certificate): Claims & { readonly fingerprint: string } {
  const { CN, O, OU } = subject;
  return { CN, O, OU, fingerprint: fingerprint256.replaceAll(':', '').toLowerCase() };
}
