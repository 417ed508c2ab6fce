import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Keyring, KeyringError } from '../../../core/profiles/keyring.ts';
import { readAll } from '../../terminal/streams.ts';

/** A request to the process that uses the keyring, as one JSON text on its standard input. */
export type KeyringRequest =
  | { readonly act: 'read' | 'remove'; readonly account: string }
  | { readonly act: 'write'; readonly account: string; readonly secret: string };

/** Its reply on standard output: the secret for a read, null where there is none, or why it failed. */
export type KeyringReply = { readonly secret: string | null } | { readonly trouble: string };

/**
 * The keyring of the system: Keychain, Credential Manager or Secret Service. Each request goes to a process of its
 * own: the calls block their thread, and only a process can be killed while it waits for a bus.
 */
export const systemKeyring: Keyring = {
  read: async (account, signal) => (await send({ act: 'read', account }, signal)) ?? undefined,
  write: async (account, secret, signal) => {
    await send({ act: 'write', account, secret }, signal);
  },
  remove: async (account, signal) => {
    await send({ act: 'remove', account }, signal);
  },
};

async function send(request: KeyringRequest, signal: AbortSignal): Promise<string | null> {
  // The secret goes through a pipe: arguments and environment are open to others.
  const child = spawn(process.execPath, [fileURLToPath(new URL('./child.js', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: ownEnvironment(),
    signal,
    killSignal: 'SIGKILL',
    windowsHide: true,
  });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(request));
  const text = await Promise.race([readAll(child.stdout), failed]);
  const reply = readReply(text);
  if ('trouble' in reply) throw new KeyringError(reply.trouble);
  return reply.secret;
}

function readReply(text: string): KeyringReply {
  try {
    return JSON.parse(text) as KeyringReply;
  } catch {
    throw new KeyringError('it ended without a reply');
  }
}

/** The environment without the secrets and settings of molar, and without what would change Node itself. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(MOLAR_|NODE_OPTIONS$)/i.test(name));
  return Object.fromEntries(own);
}
