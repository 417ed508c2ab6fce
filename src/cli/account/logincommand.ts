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
import type { ApiClient } from '../../core/transport/client.ts';
import { Connections, profileSecrets } from '../connections.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import type { Question } from '../terminal/streams.ts';
import {
  AGAIN,
  answerAtFault,
  checkAddress,
  forgotten,
  type LoginAnswers,
  NOBODY,
  nothingSaved,
} from './loginanswers.ts';
import { FIRST_COMMANDS, type LoginResult, loginJson, loginNotes } from './loginreport.ts';
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
    const { profile, probed } = await this.tried(flags, known, ask);
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

  /**
   * A profile that the server accepts. Where somebody answers, the answer at fault is asked for again and the others
   * are kept; the address is tried as soon as it is given.
   */
  private async tried(flags: FlagValues, known: Profile | undefined, ask: Ask) {
    let answers: LoginAnswers = {};
    for (;;) {
      try {
        const isAsked = ask !== undefined && textFlag(flags, 'url') === undefined && answers.url === undefined;
        answers = { ...answers, url: await this.address(flags, answers, known, ask) };
        if (isAsked) await this.tryAddress(flags, answers.url ?? '');
        answers = { ...answers, organization: await this.organization(flags, answers, known, ask) };
        const place = this.place(flags, answers, known);
        const secret = answers.secret ?? (await readSecret(flags, this.context, ask));
        answers = { ...answers, secret };
        const profile: Profile = { ...place, secret };
        return { profile, probed: await this.probe(flags, profile) };
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause;
        const wrong = ask === undefined ? undefined : answerAtFault(cause, flags);
        if (wrong === undefined) throw nothingSaved(cause);
        await this.note(`${cause.message} ${AGAIN[wrong]}`);
        answers = forgotten(answers, wrong);
      }
    }
  }

  private async address(flags: FlagValues, answers: LoginAnswers, known: Profile | undefined, ask: Ask) {
    const given = textFlag(flags, 'url') ?? answers.url;
    if (given !== undefined || ask === undefined) return given;
    const allowHttp = isOn(flags, 'allow-http');
    return ask({
      message: 'Address of the server',
      initial: answers.wrongUrl ?? (this.context.env.MOLAR_URL || known?.url),
      check: (text) => problemOf(() => readBaseUrl(text.trim(), 'The address', allowHttp)),
    });
  }

  private tryAddress(flags: FlagValues, address: string): Promise<void> {
    const url = readBaseUrl(address.trim(), 'The address', isOn(flags, 'allow-http'));
    // Somebody waits.
    return this.withClient({ 'max-retries': '1', ...flags }, { ...NOBODY, url }, checkAddress);
  }

  private async organization(flags: FlagValues, answers: LoginAnswers, known: Profile | undefined, ask: Ask) {
    return (
      textFlag(flags, 'organization') ??
      answers.organization ??
      (await ask?.({
        message: 'Organization id',
        initial: answers.wrongOrganization ?? (this.context.env.MOLAR_ORGANIZATION || known?.organization),
        check: (text) =>
          isOrganizationId(text.trim()) ? undefined : 'It is 1 to 64 letters, digits, hyphens or underscores.',
      }))
    );
  }

  private place(flags: FlagValues, { url, organization }: LoginAnswers, known: Profile | undefined) {
    const { env } = this.context;
    const allowHttp = isOn(flags, 'allow-http');
    const variables = {
      MOLAR_URL: env.MOLAR_URL || known?.url,
      MOLAR_ORGANIZATION: env.MOLAR_ORGANIZATION || known?.organization,
    };
    const settings = checked(() => settingsOf({ url, organization, allowHttp }, variables, undefined));
    return { url: settings.baseUrl, organization: settings.organization, ...(allowHttp && { allowHttp }) };
  }

  private probe(flags: FlagValues, profile: Profile): Promise<readonly ProbeResult[]> {
    const { signal, clock } = this.context;
    return this.withClient(flags, profile, (client) => probeScopes(client, signal, clock.now()));
  }

  private async withClient<T>(
    flags: FlagValues,
    profile: Profile,
    work: (client: ApiClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
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
      return await work(await connections.client(), this.context.signal);
    } finally {
      await connections.close();
    }
  }

  private async report(flags: FlagValues, result: LoginResult): Promise<void> {
    if (isOn(flags, 'json')) await this.print(loginJson(result));
    for (const note of loginNotes(result, this.context.env)) await this.note(note);
    if (this.context.streams.stderr.isTTY) for (const line of FIRST_COMMANDS) await this.note(line);
  }
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
