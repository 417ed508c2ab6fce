import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { processStreams, readAll } from '../../terminal/streams.ts';
import type { KeyringReply, KeyringRequest } from './systemkeyring.ts';

/** The name under which keyrings show the entries of this program. */
const SERVICE = 'molar';

async function reply(request: KeyringRequest): Promise<KeyringReply> {
  const keyring = await import('@napi-rs/keyring').catch(() => undefined);
  if (keyring === undefined) return { trouble: 'the optional package @napi-rs/keyring is not installed' };
  findSessionBus();
  try {
    // Never the keyring of the Linux kernel, which forgets everything at a restart.
    const entry = new keyring.Entry(SERVICE, request.account, { linux: { store: 'secret-service' } });
    if (request.act === 'read') return { secret: entry.getPassword() };
    if (request.act === 'write') entry.setPassword(request.secret);
    else entry.deleteCredential();
    return { secret: null };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.replace(/[\s.]+$/, '') : '';
    const isShown = message !== '' && !(request.act === 'write' && message.includes(request.secret));
    return { trouble: isShown ? `it says "${message}"` : 'it cannot be used' };
  }
}

/** Cron and ssh leave the address of the session bus out of the environment, though it is where systemd puts it. */
function findSessionBus(): void {
  if (process.platform !== 'linux' || process.env.DBUS_SESSION_BUS_ADDRESS) return;
  const folder = process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid?.()}`;
  const bus = join(folder, 'bus');
  if (existsSync(bus)) process.env.DBUS_SESSION_BUS_ADDRESS = `unix:path=${bus}`;
}

async function replyOnce(): Promise<void> {
  const { stdin, stdout } = processStreams();
  const request = JSON.parse(await readAll(stdin.chunks)) as KeyringRequest;
  await stdout.write(JSON.stringify(await reply(request)));
}

void replyOnce();
