import { localFailure, usageFailure } from '../../core/failure.ts';
import type { ProfileSecret } from '../../core/profiles/config.ts';
import { readTextFile } from '../../core/textfile.ts';
import type { Context } from '../context.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { type Question, readAll } from '../terminal/streams.ts';

/** Prompts on the terminal; undefined where there is none. */
export type Ask = ((question: Question) => Promise<string>) | undefined;

const WAYS = ['token-stdin', 'token-file', 'token-command', 'client-secret-stdin', 'client-secret-file'] as const;

/** Whether a flag names the secret, so that nobody is asked for it. */
export function isSecretGiven(flags: FlagValues): boolean {
  return WAYS.some((name) => textFlag(flags, name) || isOn(flags, name));
}

/** The secret of a new profile: from a flag, else a prompt, else the environment. Throws a Failure (exit 2 or 9). */
export async function readSecret(flags: FlagValues, context: Context, ask: Ask): Promise<ProfileSecret> {
  const [way, other] = WAYS.filter((name) => textFlag(flags, name) || isOn(flags, name));
  if (other !== undefined) throw usageFailure(`Use only one of --${way} and --${other}.`, { source: `--${other}` });
  const clientId = textFlag(flags, 'client-id');
  if (clientId !== undefined && way?.startsWith('token')) {
    throw usageFailure(`--client-id does not go with --${way}.`, { source: '--client-id' });
  }
  const { env } = context;
  switch (way) {
    case 'token-command':
      return { kind: 'command', command: textFlag(flags, way) ?? '' };
    case 'token-stdin':
      return tokenOf(await readStdin(context), '--token-stdin');
    case 'token-file':
      return tokenOf(await readTextFile(textFlag(flags, way) ?? ''), '--token-file');
    case 'client-secret-stdin':
      return clientOf(clientId ?? env.MOLAR_CLIENT_ID, await readStdin(context), flags, context);
    case 'client-secret-file':
      return clientOf(clientId ?? env.MOLAR_CLIENT_ID, await readTextFile(textFlag(flags, way) ?? ''), flags, context);
  }
  if (ask !== undefined) return askSecret(clientId, flags, context, ask);
  if (clientId === undefined && env.MOLAR_TOKEN) return tokenOf(env.MOLAR_TOKEN, 'MOLAR_TOKEN');
  const id = clientId ?? env.MOLAR_CLIENT_ID;
  if (id && env.MOLAR_CLIENT_SECRET) return clientOf(id, env.MOLAR_CLIENT_SECRET, flags, context);
  throw localFailure('usage.connection', 'There is no token to log in with, and no terminal to ask on.', {
    source: '--token-stdin',
    hint: 'Use --token-stdin, --token-file or --token-command; or --client-id with --client-secret-stdin or --client-secret-file.',
  });
}

const TOKEN = 'Access token';
const CLIENT = 'Client id and secret';

async function askSecret(
  clientId: string | undefined,
  flags: FlagValues,
  context: Context,
  ask: NonNullable<Ask>,
): Promise<ProfileSecret> {
  const way = clientId === undefined ? await ask({ message: 'Log in with', choices: [TOKEN, CLIENT] }) : CLIENT;
  if (way === TOKEN) {
    const check = (text: string) => (isSecret(text.trim()) ? undefined : 'A token has no spaces and is not empty.');
    return tokenOf(await ask({ message: TOKEN, secret: true, check }), 'The answer');
  }
  const check = (text: string) => (text.trim() === '' ? 'It must not be empty.' : undefined);
  const id = clientId ?? (await ask({ message: 'Client id', initial: context.env.MOLAR_CLIENT_ID, check }));
  return clientOf(id, await ask({ message: 'Client secret', secret: true, check }), flags, context);
}

function isSecret(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function tokenOf(text: string, source: string): ProfileSecret {
  const token = text.trim();
  if (isSecret(token)) return { kind: 'token', token };
  // What it holds is never repeated.
  const what = token === '' ? 'gave no token' : 'gave text that cannot be a token';
  throw usageFailure(`${source} ${what}.`, { source });
}

function clientOf(id: string | undefined, secret: string, flags: FlagValues, { env }: Context): ProfileSecret {
  const clientId = id?.trim() ?? '';
  if (clientId === '') {
    throw localFailure('usage.connection', 'There is a client secret, but no client id.', { source: '--client-id' });
  }
  // Only the line end goes: a secret may hold spaces.
  const clientSecret = secret.replace(/\r?\n$/, '');
  if (clientSecret === '') throw usageFailure('The client secret is empty.', { source: 'client secret' });
  const tokenUrl = textFlag(flags, 'token-url') ?? env.MOLAR_TOKEN_URL;
  return { kind: 'client', clientId, clientSecret, ...(tokenUrl && { tokenUrl }) };
}

function readStdin({ streams, signal }: Context): Promise<string> {
  return readAll(streams.stdin.chunks, signal);
}
