import { type Failure, fileFailure, localFailure, usageFailure } from '../failure.ts';
import type { Exchange } from '../transport/exchange.ts';
import { staticToken, type TokenSource } from '../transport/token.ts';
import { clientCredentialToken, defaultTokenUrl } from './clientcredentials.ts';
import type { ConnectionFlags, ConnectionSettings, Environment } from './settings.ts';

/** How secrets are reached; passed in, so that core touches no process. */
export interface SecretReaders {
  readonly stdin: () => Promise<string>;
  readonly file: (path: string) => Promise<string>;
  /** Standard output of a command line run by the shell; rejects when it fails. */
  readonly command: (line: string) => Promise<string>;
}

/**
 * The token source that flags and environment name: a flag, then MOLAR_TOKEN, then client id and secret. Throws a
 * Failure with exit code 2 when there is none, or 9 when a file cannot be read.
 */
export async function readCredentials(
  flags: ConnectionFlags,
  env: Environment,
  settings: ConnectionSettings,
  readers: SecretReaders,
  exchange: Exchange,
): Promise<TokenSource> {
  const given = [
    flags.tokenStdin && '--token-stdin',
    flags.tokenFile && '--token-file',
    flags.tokenCommand && '--token-command',
  ];
  const [first, second] = given.filter((name) => typeof name === 'string');
  if (second !== undefined) throw usageFailure(`Use only one of ${first} and ${second}.`, { source: second });
  if (flags.tokenStdin) return staticToken(checked(await readers.stdin(), '--token-stdin'));
  if (flags.tokenFile) return staticToken(checked(await readFile(flags.tokenFile, readers), '--token-file'));
  if (flags.tokenCommand) return staticToken(checked(await runCommand(flags.tokenCommand, readers), '--token-command'));
  if (env.MOLAR_TOKEN) return staticToken(checked(env.MOLAR_TOKEN, 'MOLAR_TOKEN'));
  const { MOLAR_CLIENT_ID: clientId, MOLAR_CLIENT_SECRET: clientSecret } = env;
  if (clientId && clientSecret) {
    const tokenUrl = settings.tokenUrl ?? defaultTokenUrl(settings.baseUrl);
    return clientCredentialToken({ clientId, clientSecret, tokenUrl }, exchange);
  }
  throw noToken(clientId, clientSecret);
}

function noToken(clientId: string | undefined, clientSecret: string | undefined): Failure {
  if (clientId)
    return localFailure('usage.connection', 'MOLAR_CLIENT_ID is set, MOLAR_CLIENT_SECRET is not.', {
      source: 'MOLAR_CLIENT_SECRET',
    });
  if (clientSecret)
    return localFailure('usage.connection', 'MOLAR_CLIENT_SECRET is set, MOLAR_CLIENT_ID is not.', {
      source: 'MOLAR_CLIENT_ID',
    });
  const hint =
    'Set MOLAR_TOKEN, or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET, or use --token-file, --token-command or --token-stdin.';
  return localFailure('usage.connection', 'There is no token.', { source: 'MOLAR_TOKEN', hint });
}

/** The token without white space around it. What it holds is never repeated. */
function checked(text: string, source: string): string {
  const token = text.trim();
  if (token === '') throw usageFailure(`${source} gave no token.`, { source });
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw usageFailure(
      `${source} gave something that cannot be a token: it holds spaces, line breaks or other characters.`,
      {
        source,
      },
    );
  }
  return token;
}

async function readFile(path: string, readers: SecretReaders): Promise<string> {
  try {
    return await readers.file(path);
  } catch (cause) {
    throw fileFailure(`read the token file ${path}`, cause);
  }
}

async function runCommand(line: string, readers: SecretReaders): Promise<string> {
  try {
    return await readers.command(line);
  } catch (cause) {
    const source = '--token-command';
    throw localFailure('usage.connection', 'The command of --token-command failed.', {
      source,
      hint: 'Run it by itself: it must exit with 0 and print the token.',
      cause,
    });
  }
}
