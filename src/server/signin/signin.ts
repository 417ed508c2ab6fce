import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type Refusal, refusal } from '../../catalog/failures.ts';
import type { Clock } from '../clock.ts';
import type { ServerLog } from '../log.ts';
import { type Certificates, keepCertificate } from './certificates.ts';
import { Issuer } from './issuer.ts';
import { isProtected } from './issuerkeys.ts';
import { parseRules, type RightsOf } from './rules.ts';

/** Who signs in besides the holders of tokens; `claims` and `ca` are paths of files. */
export interface SignInOptions {
  readonly issuer?: { readonly url: string; readonly audience: string; readonly claims: string };
  readonly certificates?: { readonly ca: string; readonly claims: string };
}

/** The ways to sign in that are open. */
export interface SignIn {
  readonly issuer?: Issuer;
  readonly certificates?: Certificates;
}

/** Reads the files of the options. Throws a Refusal for what cannot be used in them: usage (exit 2). */
export async function openSignIn(options: SignInOptions, clock: Clock, log: Pick<ServerLog, 'note'>): Promise<SignIn> {
  const { issuer, certificates } = options;
  return {
    ...(issuer && { issuer: await openIssuer(issuer, clock, log) }),
    ...(certificates && {
      certificates: {
        ca: await readAuthorities(certificates.ca),
        rights: await readRules(certificates.claims, '--tls-client-claims'),
      },
    }),
  };
}

/** Lets an app sign people and machines in as long as it runs. */
export function mountSignIn(app: FastifyInstance, { issuer, certificates }: SignIn): void {
  if (certificates) app.server.on('secureConnection', (socket: TLSSocket) => keepCertificate(socket));
  if (!issuer) return;
  app.addHook('onReady', async () => issuer.start());
  app.addHook('onClose', async () => issuer.stop());
}

async function openIssuer(
  { url, audience, claims }: NonNullable<SignInOptions['issuer']>,
  clock: Clock,
  log: Pick<ServerLog, 'note'>,
): Promise<Issuer> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !isProtected(address) || /[?#@]/.test(url)) {
    throw unusable(
      '--oidc-issuer',
      'it must be an https: address, as the issuer itself writes it; on this machine http:',
    );
  }
  const rights = await readRules(claims, '--oidc-claims');
  return new Issuer({ issuer: url, audience, rights }, clock, (state, reason) => {
    if (state === 'reached') log.note('info', 'keys of the issuer are known', { issuer: url });
    else log.note('warn', 'the issuer does not answer as it should', { issuer: url, reason });
  });
}

async function readRules(file: string, flag: string): Promise<RightsOf> {
  const rules = parseRules((await read(file, flag)).toString());
  if (typeof rules === 'function') return rules;
  throw unusable(flag, `${file}: ${rules.join('; ')}`);
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function readAuthorities(file: string): Promise<Buffer> {
  const flag = '--tls-client-ca';
  const bytes = await read(file, flag);
  const found = bytes.toString('latin1').match(CERTIFICATES) ?? [];
  if (found.length === 0) throw unusable(flag, `${file}: it has no certificate in PEM`);
  // A certificate that may not sign others would be taken for that of a client, and no other would be.
  if (found.every(isAuthority)) return bytes;
  throw unusable(flag, `${file}: each certificate in it must be that of a certificate authority`);
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}

function read(file: string, flag: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw unusable(flag, `${file} cannot be read (${error.code})`);
  });
}

function unusable(flag: string, why: string): Refusal {
  return refusal('field.format', flag, `${flag} cannot be used: ${why}.`);
}
