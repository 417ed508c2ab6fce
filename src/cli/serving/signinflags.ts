import { usageFailure } from '../../core/failure.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';

const { text } = flagGroup();

type SignInOptions = import('../../server/signin/signin.ts').SignInOptions;

/** Flags of `molar serve` for people and machines that have no token of its own (contract §8). */
export const signInFlags = {
  'oidc-issuer': text('URL', 'Take signed tokens of this OpenID Connect issuer'),
  'oidc-audience': text('NAME', 'What the aud of these tokens must name: this server'),
  'oidc-claims': text('FILE', 'Rules by which claims give rights (JSON)'),
  'tls-client-ca': text('FILE', 'Ask clients for a certificate of this authority (PEM)'),
  'tls-client-claims': text('FILE', 'Rules by which CN, O, OU and fingerprint of a certificate give rights (JSON)'),
};

/** What these flags say; a Failure (exit 2) when one is missing that another needs. */
export function readSignInFlags(flags: FlagValues): SignInOptions {
  const [url, audience, claims] = together(flags, 'oidc-issuer', 'oidc-audience', 'oidc-claims');
  const [ca, rules] = together(flags, 'tls-client-ca', 'tls-client-claims');
  if (ca !== undefined && textFlag(flags, 'tls-cert') === undefined) {
    throw usageFailure('--tls-client-ca needs --tls-cert and --tls-key.', { source: '--tls-cert' });
  }
  return {
    ...(url !== undefined && audience !== undefined && claims !== undefined && { issuer: { url, audience, claims } }),
    ...(ca !== undefined && rules !== undefined && { certificates: { claims: rules } }),
  };
}

function together(flags: FlagValues, ...names: readonly string[]): (string | undefined)[] {
  const values = names.map((name) => textFlag(flags, name)?.trim());
  const missing = names.find((_name, index) => !values[index]);
  if (missing !== undefined && values.some((value) => value !== undefined)) {
    const all = names.map((name) => `--${name}`).join(', ');
    throw usageFailure(`${all} go together; --${missing} is missing.`, { source: `--${missing}` });
  }
  return values;
}
