import type { ProbeResult } from '../../core/doctor/probes.ts';
import type { Environment } from '../../core/environment.ts';
import type { Profile, ProfileSecret } from '../../core/profiles/config.ts';
import type { StoredSecret } from '../../core/profiles/secretstore.ts';

/** The result of a login. */
export interface LoginResult {
  readonly name: string;
  /** As it was given: the secret may be stored elsewhere. */
  readonly profile: Profile;
  readonly path: string;
  readonly kept: StoredSecret;
  readonly probed: readonly ProbeResult[];
}

/** The result as JSON; `where` is where the secret is: `keyring`, `file`, or null for a command, which prints it each time. */
export function loginJson({ name, profile, path, kept, probed }: LoginResult): string {
  const { url, organization, secret } = profile;
  const access = Object.fromEntries(probed.map(({ scope, allowed }) => [scope, allowed]));
  const where = secret.kind === 'command' ? null : kept.where;
  return `${JSON.stringify({ profile: name, server: url, organization, kept: secret.kind, where, path, access }, null, 2)}\n`;
}

/** Notes for people, a line each; nothing of it is secret. */
export function loginNotes({ name, profile, path, kept, probed }: LoginResult, env: Environment): readonly string[] {
  const { url, organization, secret } = profile;
  const lacking = probed.filter(({ allowed }) => !allowed);
  const stronger = OVERRIDING.filter((variable) => env[variable]);
  return [
    `Logged in to ${url} as organization ${organization}. Profile ${name} is now in use.`,
    secretNote(secret, path, kept),
    ...(kept.orphan === undefined ? [] : [leftNote(kept.orphan)]),
    ...lacking.map(({ scope }) => `Warning: the token lacks the scope ${scope}.`),
    ...(stronger.length > 0 ? [`Warning: the environment takes precedence: ${stronger.join(', ')}.`] : []),
  ];
}

/** Commands to begin with. */
export const FIRST_COMMANDS = ['Try:', '  molar patients list', '  molar reports schedule', '  molar help'] as const;

/** An entry of the keyring that stayed where it was. */
export function leftNote(account: string): string {
  return `Warning: the previous secret is still in the system keyring, as "${account}" of molar; remove it there.`;
}

function secretNote({ kind }: ProfileSecret, path: string, { where, reason }: StoredSecret): string {
  const file = `${path}, a file that only you can read (0600)`;
  if (kind === 'command') return `No token is stored; the command that prints it is in ${file}.`;
  const what = kind === 'client' ? 'client secret' : 'token';
  if (where === 'keyring') return `The ${what} is stored in the system keyring, the rest in ${path}.`;
  const why = reason === undefined ? '' : ` The system keyring was not used: ${reason}.`;
  return `The ${what} is stored in ${file}.${why}`;
}

const OVERRIDING = ['MOLAR_URL', 'MOLAR_ORGANIZATION', 'MOLAR_TOKEN', 'MOLAR_CLIENT_ID', 'MOLAR_PROFILE'];
