import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { codeOf, fileFailure, localFailure } from '../../core/failure.ts';
import { holderOf, holdLock, type LockOwner } from '../../core/lockfile.ts';
import { exists } from '../../core/output/atomicfile.ts';
import { removeFile } from '../../filesystem/durable.ts';

/*
 * Windows has no SIGTERM, so a server can be told to end by a file in its data folder on every system. Its name has an id
 * that only the owner of the folder can read, in `server.json`, and that no other start of a server has: a file that is
 * left over stops nobody.
 */

/** Says which server runs on the folder, from when it listens until it has ended. */
const RUNNING = 'server.json';
const REQUEST = 'server.stop-';

/** Milliseconds between two looks. */
const LOOK_MS = 250;

/** The server that runs on a data folder. */
export interface FoundServer {
  readonly id: string;
  readonly pid?: number;
  /** In UTC, ISO 8601. */
  readonly startedAt?: string;
  readonly host?: string;
}

/**
 * Makes the server that runs on a folder known there; calls `onRequest`, maybe several times, when it is to stop. Returns how to end that.
 * `isAlone`: no other server can have the folder, so that what is there is of one that was killed. Throws a Failure
 * (exit 9) while another server has it.
 */
export async function announceServer(
  folder: string,
  owner: LockOwner,
  isAlone: boolean,
  onRequest: () => void,
): Promise<() => Promise<void>> {
  const file = join(folder, RUNNING);
  if (isAlone) await removeFile(file);
  const release = await holdLock(file, `The folder ${folder}`, { ...owner, command: 'molar serve' });
  const left = (await readdir(folder)).filter((name) => name.startsWith(REQUEST));
  for (const name of left) await removeFile(join(folder, name));
  const request = requestOf(folder, (await holderOf(file, owner))?.id ?? '');
  const look = async () => {
    if (!(await exists(request))) return;
    onRequest();
    // Whoever asked sees by it that this is no other program, which has the number of a server that was killed.
    await removeFile(request).catch(() => undefined);
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return async () => {
    clearInterval(timer);
    await removeFile(request).catch(() => undefined);
    await release();
  };
}

/** The server that runs on a folder; undefined where none does. Throws a Failure (exit 9) for a folder that it cannot read. */
export function serverOn(folder: string, owner: LockOwner): Promise<FoundServer | undefined> {
  return holderOf(join(folder, RUNNING), owner);
}

/** Asks a server to stop, once. Throws a Failure (exit 9) where this user may not write to the folder. */
export async function askToStop(folder: string, { id }: FoundServer): Promise<void> {
  // Only a new file: the owner of the folder, if that is not who asks, could have made a link to somebody's file.
  await writeFile(requestOf(folder, id), '', { flag: 'wx' }).catch((cause: unknown) => {
    if (codeOf(cause) !== 'EEXIST') throw fileFailure(`ask the server to stop in ${resolve(folder)}`, cause);
  });
}

/**
 * Waits until a server that was asked has ended, its process included. Throws a Failure: exit 7 for one that takes longer
 * than `timeout` milliseconds, exit 8 for one that died before it had finished, the reason of the signal when that aborts.
 */
export async function waitForEnd(
  folder: string,
  server: FoundServer,
  owner: LockOwner,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<void> {
  const { clock } = owner;
  const file = join(folder, RUNNING);
  for (const end = clock.now() + timeout; ; ) {
    const now = await serverOn(folder, owner);
    // The second look: the next server may just have made it.
    if (now === undefined && existsSync(file) && (await serverOn(folder, owner)) === undefined) {
      throw await died(folder, server);
    }
    if (now?.id !== server.id && !isAlive(server, owner)) return;
    if (clock.now() >= end) throw late(folder, server, timeout);
    await clock.sleep(Math.min(LOOK_MS, Math.max(1, end - clock.now())), signal);
  }
}

/** How messages name it: `process 123`, with its machine where that is another one. */
export function processName({ pid, host }: FoundServer, owner: LockOwner): string {
  return `process ${pid ?? 'unknown'}${host === undefined || host === owner.host ? '' : ` on ${host}`}`;
}

/** Whether its process is still there; of another machine that cannot be found out. */
function isAlive({ pid, host }: FoundServer, owner: LockOwner): boolean {
  return pid !== undefined && host === owner.host && owner.lifeOf(pid).alive;
}

async function died(folder: string, server: FoundServer) {
  await removeFile(requestOf(folder, server.id)).catch(() => undefined);
  return localFailure('server.died', 'The server ended before it had finished what it was doing.');
}

function late(folder: string, { id, pid }: FoundServer, timeout: number) {
  const within = `within ${timeout / 1000} s (process ${pid})`;
  if (!existsSync(requestOf(folder, id))) {
    return localFailure('run.overtime', `The server has not ended ${within}.`, {
      hint: `It still ends when it gets to it: wait longer with --timeout, or end process ${pid} by force. What it has answered is stored.`,
    });
  }
  return localFailure('run.overtime', `No server has taken notice ${within}.`, {
    hint: `See whether process ${pid} is molar. If so, it still ends when it gets to it, or end it by force: what it has answered is stored. If not, the server was killed before: delete ${join(folder, RUNNING)}.`,
  });
}

function requestOf(folder: string, id: string): string {
  return join(folder, `${REQUEST}${id}`);
}
