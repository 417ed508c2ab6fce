import type { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock.ts';
import type { ServerLog } from '../log.ts';
import { Certificates } from './certificates.ts';
import { readInput, unusable } from './inputs.ts';
import { Issuer } from './issuer.ts';
import { isProtected } from './issuerkeys.ts';
import { parseRules, type RightsOf } from './rules.ts';

/** Who signs in besides the holders of tokens; `claims` is the path of a file. */
export interface SignInOptions {
  readonly issuer?: { readonly url: string; readonly audience: string; readonly claims: string };
  readonly certificates?: { readonly claims: string };
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
      certificates: new Certificates(await readRules(certificates.claims, '--tls-client-claims')),
    }),
  };
}

/** Lets an app sign people and machines in as long as it runs. */
export function mountSignIn(app: FastifyInstance, { issuer, certificates }: SignIn): void {
  if (certificates) app.server.on('secureConnection', (socket: TLSSocket) => certificates.keep(socket));
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
  const rules = parseRules(await readInput(file, flag));
  if (typeof rules === 'function') return rules;
  throw unusable(flag, `${file}: ${rules.join('; ')}`);
}
