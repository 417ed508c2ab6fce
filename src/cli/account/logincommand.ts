import { isOrganizationId } from '../../catalog/fields/composites.ts';
import { readBaseUrl, settingsOf } from '../../core/connection/settings.ts';
import { type ProbeResult, probeScopes } from '../../core/doctor/probes.ts';
import { Failure, localFailure, reworded } from '../../core/failure.ts';
import {
  checkProfileName,
  configPath,
  type Profile,
  readConfig,
  type StoredConfig,
} from '../../core/profiles/config.ts';
import { allowsKeyring } from '../../core/profiles/keyring.ts';
import { Connections, profileSecrets } from '../connections.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import type { Question } from '../terminal/streams.ts';
import { type LoginResult, loginJson, loginNotes } from './loginreport.ts';
import { type Ask, readSecret } from './loginsecret.ts';

const plain = flagGroup();
const connection = flagGroup('CONNECTION');

/** Reads a connection from flags or asks for it, tries it, and saves it as a profile. */
export abstract class LoginCommand extends MolarCommand {
  /** None takes a secret value: argument lists are open to others. */
  static override flags = {
    json: plain.toggle('Print JSON'),
    ...talkFlags,
    ...connectionFlags,
    profile: connection.text('NAME', 'Name of the profile; "default" when not given'),
    'token-command': connection.text(
      'COMMAND',
      'Command that prints the token; it is saved instead of the token and run each time',
    ),
    'client-id': connection.text('ID', 'Client id (MOLAR_CLIENT_ID)'),
    'client-secret-stdin': connection.toggle('Read the client secret from standard input'),
    'client-secret-file': connection.text('FILE', 'Read the client secret from a file'),
    'token-url': connection.text('URL', 'Token endpoint for client id and secret (MOLAR_TOKEN_URL)'),
  };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env } = this.context;
    const path = configPath(env);
    const config = readConfig(path);
    allowsKeyring(env);
    const ask = this.asking(flags);
    const name = await readName(flags, env.MOLAR_PROFILE, config, ask);
    const known = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
    const profile: Profile = {
      ...(await this.server(flags, known, ask)),
      secret: await readSecret(flags, this.context, ask),
    };
    const probed = await this.probe(flags, profile);
    const kept = await profileSecrets(this.context).saveProfile(path, name, profile);
    await this.report(flags, { name, profile, path, kept, probed });
  }

  /** Prompts where there is a terminal and no flag says that a program passes the secret. */
  private asking(flags: FlagValues): Ask {
    const { streams, signal } = this.context;
    const { ask } = streams;
    if (ask === undefined || isOn(flags, 'token-stdin') || isOn(flags, 'client-secret-stdin')) return undefined;
    return (question: Question) =>
      ask(question, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw localFailure('run.interrupted', 'Nothing was saved.', { cause, hint: 'Run molar login again.' });
      });
  }

  private async server(flags: FlagValues, known: Profile | undefined, ask: Ask): Promise<Omit<Profile, 'secret'>> {
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
    const settings = checked(() => settingsOf({ url, organization, allowHttp }, variables, undefined));
    return { url: settings.baseUrl, organization: settings.organization, ...(allowHttp && { allowHttp }) };
  }

  private async probe(flags: FlagValues, profile: Profile): Promise<readonly ProbeResult[]> {
    const { secret } = profile;
    const command = secret.kind === 'command' ? secret.command : undefined;
    const own = Object.fromEntries(Object.entries(flags).filter(([name]) => TALKING.includes(name)));
    const env = { ...this.context.env, ...environmentOf(profile) };
    const connections = new Connections(
      { ...this.context, env },
      { ...own, 'token-command': command },
      this.config.userAgent,
      this.notes,
    );
    try {
      return await probeScopes(await connections.client(), this.context.signal, this.context.clock.now());
    } catch (cause) {
      throw cause instanceof Failure ? nothingSaved(cause) : cause;
    } finally {
      await connections.close();
    }
  }

  private async report(flags: FlagValues, result: LoginResult): Promise<void> {
    if (isOn(flags, 'json')) await this.print(loginJson(result));
    for (const note of loginNotes(result, this.context.env)) await this.note(note);
  }
}

function nothingSaved(cause: Failure): Failure {
  const hint = 'Check what was given for a secret, the organization and the address, and run molar login again.';
  return reworded(cause, {
    message: `${cause.message} Nothing was saved.`,
    ...(cause.status === 401 && { hint }),
  });
}

const TALKING = ['quiet', 'verbose', 'max-retries', 'ca-cert', 'allow-http'];

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

/** What is missing, with a next step for whoever is logging in already. */
function checked<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'usage.connection') throw cause;
    const hint =
      'Give --url and --organization, or run molar login on a terminal without --token-stdin: it asks for them.';
    throw reworded(cause, { hint });
  }
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'It is not right.';
  }
}
