import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { processStreams, readAll } from '../../terminal/streams.ts';
import type { KeyringAnswer, KeyringQuestion } from './conversation.ts';

/** The name under which keyrings show the entries of this program. */
const SERVICE = 'molar';

async function answer(question: KeyringQuestion): Promise<KeyringAnswer> {
  const keyring = await import('@napi-rs/keyring').catch(() => undefined);
  if (keyring === undefined) return { trouble: 'the optional package @napi-rs/keyring is not installed' };
  findSessionBus();
  try {
    // Never the keyring of the Linux kernel, which forgets everything at a restart.
    const entry = new keyring.Entry(SERVICE, question.account, { linux: { store: 'secret-service' } });
    if (question.act === 'read') return { secret: entry.getPassword() };
    if (question.act === 'write') entry.setPassword(question.secret);
    else entry.deleteCredential();
    return { secret: null };
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.replace(/[\s.]+$/, '') : '';
    const tells = said !== '' && !(question.act === 'write' && said.includes(question.secret));
    return { trouble: tells ? `it says "${said}"` : 'it cannot be used' };
  }
}

/** Cron and ssh leave the address of the session bus out of the environment, though it is where systemd puts it. */
function findSessionBus(): void {
  if (process.platform !== 'linux' || process.env.DBUS_SESSION_BUS_ADDRESS) return;
  const folder = process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid?.()}`;
  const bus = join(folder, 'bus');
  if (existsSync(bus)) process.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${bus}`;
}

async function answerOnce(): Promise<void> {
  const { stdin, stdout } = processStreams();
  const question = JSON.parse(await readAll(stdin.chunks)) as KeyringQuestion;
  await stdout.write(JSON.stringify(await answer(question)));
}

void answerOnce();
