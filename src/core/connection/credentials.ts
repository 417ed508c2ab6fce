import type { Environment } from '../environment.ts';
import { type Failure, fileFailure, localFailure, usageFailure } from '../failure.ts';
import type { ChosenProfile, ProfileSecret } from '../profiles/config.ts';
import { textFrom } from '../textfile.ts';
import type { TokenSource } from '../transport/client.ts';
import type { ExchangeContext } from '../transport/exchange.ts';
import { clientCredentialToken, defaultTokenUrl } from './clientcredentials.ts';
import type { ConnectionFlags, ConnectionSettings } from './settings.ts';
import { factsInToken, type TokenListener } from './tokenfacts.ts';

/** How secrets are read; passed in, so that core touches no process. */
export interface SecretReaders {
  readonly stdin: () => Promise<string>;
  readonly file: (path: string) => Promise<Uint8Array>;
  /** Standard output of a command line run by the shell; rejects when it fails. */
  readonly command: (line: string) => Promise<string>;
  /** The secret of a profile (`profile work`) in the keyring; throws a Failure when it cannot be read. */
  readonly keyring: (account: string, profile: string) => Promise<string>;
}

/** Where the token comes from; nothing secret is read yet. */
export type Credential = (
  | { readonly kind: 'stdin' }
  | { readonly kind: 'file'; readonly path: string }
  | ProfileSecret
) & {
  /** For people: `--token-file`, `MOLAR_TOKEN`, `profile work`. */
  readonly source: string;
};

/** A token that cannot be renewed: a 401 is final. */
export function staticToken(token: string): TokenSource {
  return { token: () => Promise.resolve(token), renew: () => false };
}

/**
 * What flags, environment and profile say about the token, in this order (contract §3); a profile named by
 * `--profile` comes before the environment. Throws a Failure with exit code 2 when there is nothing, or when the
 * profile's secret is for another address than the one in use.
 */
export function findCredential(flags: ConnectionFlags, env: Environment, settings: ConnectionSettings): Credential {
  const given: Credential[] = [];
  if (flags.tokenStdin) given.push({ kind: 'stdin', source: '--token-stdin' });
  if (flags.tokenFile) given.push({ kind: 'file', path: flags.tokenFile, source: '--token-file' });
  if (flags.tokenCommand) given.push({ kind: 'command', command: flags.tokenCommand, source: '--token-command' });
  const [first, second] = given;
  if (first !== undefined && second !== undefined) {
    throw usageFailure(`Use only one of ${first.source} and ${second.source}.`, { source: second.source });
  }
  if (first !== undefined) return first;
  const { profile } = settings;
  if (profile?.source === '--profile') return profileCredential(profile, settings);
  if (env.MOLAR_TOKEN) return { kind: 'token', token: env.MOLAR_TOKEN, source: 'MOLAR_TOKEN' };
  const { MOLAR_CLIENT_ID: clientId, MOLAR_CLIENT_SECRET: clientSecret } = env;
  if (clientId && clientSecret) {
    const { tokenUrl } = settings;
    const source = 'MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET';
    return { kind: 'client', clientId, clientSecret, ...(tokenUrl !== undefined && { tokenUrl }), source };
  }
  if (profile !== undefined && !clientId && !clientSecret) return profileCredential(profile, settings);
  throw noToken(clientId, clientSecret);
}

function profileCredential({ name, profile }: ChosenProfile, settings: ConnectionSettings): Credential {
  // A token must not reach a server it was not given for.
  if (profile.url !== settings.baseUrl) {
    const message = `The token of profile ${name} is for ${profile.url}, not for ${settings.baseUrl}.`;
    throw localFailure('usage.connection', message, {
      source: '--url',
      hint: 'Give a token for this server (MOLAR_TOKEN, --token-file), or choose a profile of it with --profile.',
    });
  }
  return { ...profile.secret, source: `profile ${name}` };
}

/**
 * The token source that flags, environment and profile name. Throws a Failure with exit code 2 when there is none, or
 * 9 when a file cannot be read. `onToken` is called with what is known of each token, as it is read or issued.
 */
export async function readCredentials(
  flags: ConnectionFlags,
  env: Environment,
  settings: ConnectionSettings,
  readers: SecretReaders,
  exchange: ExchangeContext,
  onToken?: TokenListener,
): Promise<TokenSource> {
  const credential = findCredential(flags, env, settings);
  const { source } = credential;
  const clientToken = ({ clientId, clientSecret, tokenUrl = defaultTokenUrl(settings.baseUrl) }: ClientSecret) =>
    clientCredentialToken({ clientId, clientSecret, tokenUrl }, exchange, onToken);
  const plainToken = (text: string) => {
    const token = checkToken(text, source);
    onToken?.(factsInToken(token), false);
    return staticToken(token);
  };
  switch (credential.kind) {
    case 'stdin':
      return plainToken(await readers.stdin());
    case 'file':
      return plainToken(await tokenFile(credential.path, readers));
    case 'command':
      return plainToken(await runCommand(credential.command, source, readers));
    case 'token':
      return plainToken(credential.token);
    case 'client':
      return clientToken(credential);
    case 'keyring': {
      const { account, clientId } = credential;
      const secret = await readers.keyring(account, source);
      if (clientId === undefined) return plainToken(secret);
      return clientToken({ ...credential, clientId, clientSecret: secret });
    }
  }
}

type ClientSecret = Pick<Extract<ProfileSecret, { kind: 'client' }>, 'clientId' | 'clientSecret' | 'tokenUrl'>;

function noToken(clientId: string | undefined, clientSecret: string | undefined): Failure {
  if (clientId || clientSecret) {
    const names = ['MOLAR_CLIENT_ID', 'MOLAR_CLIENT_SECRET'] as const;
    const [set, unset] = clientId ? names : names.toReversed();
    return localFailure('usage.connection', `${set} is set, ${unset} is not.`, { source: String(unset) });
  }
  return localFailure('usage.connection', 'There is no token.', {
    source: 'MOLAR_TOKEN',
    hint: 'Run molar login, set MOLAR_TOKEN, or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET, or use --token-file, --token-command or --token-stdin.',
  });
}

/** The token without white space around it; messages never repeat it. */
function checkToken(text: string, source: string): string {
  const token = text.trim();
  if (token === '') throw usageFailure(`${source} gave no token.`, { source });
  if (!/^[\x21-\x7e]+$/.test(token)) {
    const message = `${source} gave something that cannot be a token: it has spaces, line breaks or other characters.`;
    throw usageFailure(message, { source });
  }
  return token;
}

async function tokenFile(path: string, { file }: SecretReaders): Promise<string> {
  const bytes = await file(path).catch((cause: unknown) => {
    throw fileFailure(`read the token file ${path}`, cause);
  });
  return textFrom(bytes, path);
}

async function runCommand(line: string, source: string, readers: SecretReaders): Promise<string> {
  try {
    return await readers.command(line);
  } catch (cause) {
    throw localFailure('usage.connection', `The command of ${source} failed.`, {
      source,
      hint: 'Run it on its own: it must exit with 0 and print the token.',
      cause,
    });
  }
}
