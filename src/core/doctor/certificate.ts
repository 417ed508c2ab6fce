import { X509Certificate } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { connect, type DetailedPeerCertificate, rootCertificates, type TLSSocket } from 'node:tls';
import { EXIT } from '../../catalog/failures.ts';
import { bareHost } from '../transport/address.ts';
import type { ProxyInUse } from '../transport/proxy.ts';
import { type Finding, failed, passed, warning } from './finding.ts';

/** What a server presents at the start of a TLS connection. */
export interface CertificateFacts {
  /** Common name or organization of its issuers, up to the root as far as known. */
  readonly issuers: readonly string[];
  readonly validTo: string;
  /** Why it is not trusted; undefined when it is. */
  readonly problem: string | undefined;
  /** Its root came with Node, not with NODE_EXTRA_CA_CERTS or --ca-cert. */
  readonly wellKnown: boolean;
}

/** Milliseconds to connect. */
const TIMEOUT = 10_000;

/** Reads the certificate of a server, through its proxy; no request is sent. Rejects when it cannot connect. */
export async function inspectCertificate(
  address: URL,
  proxy: ProxyInUse | undefined,
  certificates: readonly string[],
): Promise<CertificateFacts> {
  const host = bareHost(address.hostname);
  const port = Number(address.port || 443);
  const tunnel = proxy === undefined ? undefined : await openTunnel(proxy.url, `${address.hostname}:${port}`);
  const socket = connect({
    ...(tunnel === undefined ? { host, port } : { socket: tunnel }),
    ...(isIP(host) === 0 && { servername: host }),
    ...(certificates.length > 0 && { ca: [...rootCertificates, ...certificates] }),
    // It is inspected, not trusted: nothing is sent.
    rejectUnauthorized: false,
    timeout: TIMEOUT,
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
      socket.once('timeout', () => reject(new Error('The TLS connection timed out.')));
    });
    return factsOf(socket);
  } finally {
    socket.destroy();
  }
}

function openTunnel(proxy: URL, target: string): Promise<Socket> {
  const request = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const headers = {
    host: target,
    ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
  };
  return new Promise((resolve, reject) => {
    const connecting = request({
      host: bareHost(proxy.hostname),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers,
      timeout: TIMEOUT,
    });
    connecting.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new Error(`The proxy ${proxy.host} refused the connection (HTTP ${statusCode}).`));
    });
    connecting.once('timeout', () => connecting.destroy(new Error(`The proxy ${proxy.host} did not respond.`)));
    connecting.once('error', reject);
    connecting.end();
  });
}

function factsOf(socket: TLSSocket): CertificateFacts {
  const chain: DetailedPeerCertificate[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !chain.some((known) => known.raw.equals(certificate?.raw ?? Buffer.of()))) {
    chain.push(certificate);
    certificate = certificate.issuerCertificate;
  }
  const problem = socket.authorizationError as unknown;
  const root = chain.at(-1);
  return {
    issuers: [...new Set(chain.map(({ issuer }) => String(issuer?.CN ?? issuer?.O ?? 'unnamed')))],
    validTo: chain[0]?.valid_to ?? 'unknown',
    problem: socket.authorized ? undefined : problem instanceof Error ? problem.message : String(problem),
    wellKnown: rootCertificates.some((pem) => new X509Certificate(pem).fingerprint256 === root?.fingerprint256),
  };
}

/** What the certificate of a server means for the user. */
export function judgeCertificate(host: string, facts: CertificateFacts): Finding {
  const issuer = facts.issuers.at(-1) ?? 'unnamed';
  const { problem } = facts;
  if (problem === undefined && facts.wellKnown) {
    return passed('tls', `The certificate of ${host} is trusted: issued under ${issuer}, valid to ${facts.validTo}.`);
  }
  if (problem === undefined) {
    const message = `The certificate of ${host} is trusted only through NODE_EXTRA_CA_CERTS or --ca-cert: issued under ${issuer}.`;
    return passed('tls', `${message} A proxy that inspects TLS, or a private authority, issues such certificates.`);
  }
  return failed('tls', { ...explain(host, issuer, problem, facts.validTo), exitCode: EXIT.network });
}

function explain(host: string, issuer: string, problem: string, validTo: string): { message: string; hint: string } {
  if (/EXPIRED/.test(problem)) {
    return {
      message: `The certificate of ${host} expired: it was valid to ${validTo}.`,
      hint: "Check this computer's clock; if it is right, the operator of the server has to renew the certificate.",
    };
  }
  if (/NOT_YET_VALID/.test(problem)) {
    return { message: `The certificate of ${host} is not valid yet.`, hint: "Check this computer's clock." };
  }
  if (/ALTNAME/.test(problem)) {
    return { message: `The certificate is not for ${host}.`, hint: 'Check the address (MOLAR_URL, --url).' };
  }
  return {
    message: `The certificate of ${host} is issued under "${issuer}", which is not trusted here (${problem}).`,
    hint:
      'If your organization inspects TLS or has its own authority, get the certificate of that authority as a PEM ' +
      'file and set NODE_EXTRA_CA_CERTS=FILE, use --ca-cert FILE, or run molar config set caCert FILE.',
  };
}

/** A connection that could not be made, as a finding. */
export function certificateUnknown(host: string, cause: unknown): Finding {
  const message = `The certificate of ${host} could not be checked: ${cause instanceof Error ? cause.message : 'no connection'}`;
  return warning('tls', message, 'Check the address, the port, the firewall and the proxy.');
}
