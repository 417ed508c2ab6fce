import { isOrganizationId } from '../catalog/fields/composites.ts';
import { readBaseUrl, settingsOf } from '../core/connection/settings.ts';
import { type Probed, probeScopes } from '../core/doctor/probes.ts';
import { Failure, localFailure } from '../core/failure.ts';
import { checkProfileName } from '../core/profiles/choose.ts';
import {
  configPath,
  type Profile,
  type ProfileSecret,
  readConfig,
  type StoredConfig,
} from '../core/profiles/config.ts';
import { changeConfig, withProfile } from '../core/profiles/store.ts';
import { Connections } from './connections.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';
import { type Ask, readSecret } from './loginsecret.ts';
import { MolarCommand } from './molarcommand.ts';
import type { Question } from './streams.ts';

/** Asks for a connection or takes it from flags, tries it, and keeps it as a profile. */
export abstract class LoginCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env } = this.context;
    const path = configPath(env);
    const config = readConfig(path);
    const ask = this.asking(flags);
    const name = await readName(flags, env.MOLAR_PROFILE, config, ask);
    const place = await this.place(
      flags,
      Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined,
      ask,
    );
    const profile: Profile = { ...place, secret: await readSecret(flags, this.context, ask) };
    const probed = await this.probe(flags, profile);
    await changeConfig(path, (latest) => withProfile(latest, name, profile));
    await this.report(flags, name, profile, path, probed);
  }

  /** Questions are asked only where all that is needed is not given already as flags. */
  private asking(flags: FlagValues): Ask {
    const { streams, signal } = this.context;
    const { ask } = streams;
    if (ask === undefined || isOn(flags, 'token-stdin') || isOn(flags, 'client-secret-stdin')) return undefined;
    return (question: Question) =>
      ask(question, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw localFailure('run.interrupted', 'Nothing was kept.', { cause, hint: 'Run molar login again.' });
      });
  }

  private async place(flags: FlagValues, known: Profile | undefined, ask: Ask): Promise<Omit<Profile, 'secret'>> {
    const { env } = this.context;
    const allowHttp = isOn(flags, 'allow-http');
    const url =
      textFlag(flags, 'url') ??
      (await ask?.({
        message: 'Address of the server',
        initial: env.MOLAR_URL ?? known?.url,
        check: (text) => problemOf(() => readBaseUrl(text.trim(), 'The address', allowHttp)),
      }));
    const organization =
      textFlag(flags, 'organization') ??
      (await ask?.({
        message: 'Organization id',
        initial: env.MOLAR_ORGANIZATION ?? known?.organization,
        check: (text) =>
          isOrganizationId(text.trim()) ? undefined : 'It is 1 to 64 letters, digits, hyphens or underscores.',
      }));
    const variables = {
      MOLAR_URL: env.MOLAR_URL || known?.url,
      MOLAR_ORGANIZATION: env.MOLAR_ORGANIZATION || known?.organization,
    };
    const settings = settingsOf({ url, organization, allowHttp }, variables, undefined);
    return { url: settings.baseUrl, organization: settings.organization, ...(allowHttp && { allowHttp }) };
  }

  private async probe(flags: FlagValues, profile: Profile): Promise<readonly Probed[]> {
    const { secret } = profile;
    const command = secret.kind === 'command' ? secret.command : undefined;
    const own = Object.fromEntries(Object.entries(flags).filter(([name]) => TALKING.includes(name)));
    const env = { ...this.context.env, ...environmentOf(profile) };
    const connections = new Connections({ ...this.context, env }, { ...own, 'token-command': command }, this.userAgent);
    try {
      return await probeScopes(await connections.client(), this.context.signal);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      const { message, code, exitCode, status, requestId, items, hint } = cause;
      throw new Failure(`${message} Nothing was kept.`, { code, exitCode, status, requestId, items, hint, cause });
    } finally {
      await connections.close();
    }
  }

  private get userAgent(): string {
    return this.config.userAgent;
  }

  private async report(
    flags: FlagValues,
    name: string,
    { url, organization, secret }: Profile,
    path: string,
    probed: readonly Probed[],
  ): Promise<void> {
    if (isOn(flags, 'json')) {
      const access = Object.fromEntries(probed.map(({ scope, allowed }) => [scope, allowed]));
      const facts = { profile: name, server: url, organization, kept: secret.kind, path, access };
      await this.print(`${JSON.stringify(facts, null, 2)}\n`);
    }
    await this.note(`Logged in to ${url} as organization ${organization}. Profile ${name} is now in use.`);
    await this.note(`${KEPT[secret.kind]} ${path}, a file that only you can read (0600).`);
    for (const { scope } of probed.filter(({ allowed }) => !allowed)) {
      await this.note(`Warning: the token lacks the scope ${scope}.`);
    }
    const stronger = OVERRIDING.filter((variable) => this.context.env[variable]);
    if (stronger.length > 0) await this.note(`Warning: ${stronger.join(', ')} in the environment come before it.`);
  }
}

const TALKING = ['quiet', 'verbose', 'max-retries', 'ca-cert', 'allow-http'];

const OVERRIDING = ['MOLAR_URL', 'MOLAR_ORGANIZATION', 'MOLAR_TOKEN', 'MOLAR_CLIENT_ID', 'MOLAR_PROFILE'];

const KEPT: Readonly<Record<ProfileSecret['kind'], string>> = {
  token: 'The token is kept in',
  command: 'No token is kept; the command that prints it is in',
  client: 'Client id and secret are kept in',
};

/** The profile as the environment would say it, with nothing else left of the real one. */
function environmentOf({ url, organization, secret }: Profile): Record<string, string | undefined> {
  const client = secret.kind === 'client' ? secret : undefined;
  return {
    MOLAR_URL: url,
    MOLAR_ORGANIZATION: organization,
    MOLAR_PROFILE: undefined,
    MOLAR_TOKEN: secret.kind === 'token' ? secret.token : undefined,
    MOLAR_CLIENT_ID: client?.clientId,
    MOLAR_CLIENT_SECRET: client?.clientSecret,
    MOLAR_TOKEN_URL: client?.tokenUrl,
  };
}

async function readName(
  flags: FlagValues,
  variable: string | undefined,
  { profiles, profile }: StoredConfig,
  ask: Ask,
): Promise<string> {
  const named = textFlag(flags, 'profile') ?? variable;
  if (named) return checkProfileName(named);
  const initial = profile ?? Object.keys(profiles)[0] ?? 'default';
  const check = (text: string) => problemOf(() => checkProfileName(text.trim()));
  return (await ask?.({ message: 'Name of the profile', initial, check }))?.trim() ?? 'default';
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'It is not right.';
  }
}
