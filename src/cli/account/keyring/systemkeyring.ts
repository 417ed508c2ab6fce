import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Keyring, KeyringError } from '../../../core/profiles/keyring.ts';
import { readAll } from '../../terminal/streams.ts';
import type { KeyringAnswer, KeyringQuestion } from './conversation.ts';

/**
 * The keyring of the system: Keychain, Credential Manager or Secret Service. Each question goes to a process of its
 * own, because the calls block their thread, and only a process can be ended while it waits for a bus.
 */
export const systemKeyring: Keyring = {
  read: async (account, signal) => (await ask({ act: 'read', account }, signal)) ?? undefined,
  write: async (account, secret, signal) => {
    await ask({ act: 'write', account, secret }, signal);
  },
  remove: async (account, signal) => {
    await ask({ act: 'remove', account }, signal);
  },
};

async function ask(question: KeyringQuestion, signal: AbortSignal): Promise<string | null> {
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
  child.stdin.end(JSON.stringify(question));
  const text = await Promise.race([readAll(child.stdout), failed]);
  const answer = readAnswer(text);
  if ('trouble' in answer) throw new KeyringError(answer.trouble);
  return answer.secret;
}

function readAnswer(text: string): KeyringAnswer {
  try {
    return JSON.parse(text) as KeyringAnswer;
  } catch {
    throw new KeyringError('it ended without an answer');
  }
}

/** The environment without the secrets and settings of molar, and without what would change Node itself. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MOLAR_|NODE_OPTIONS$)/i.test(name));
  return Object.fromEntries(kept);
}
