import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const PREFIX = 'molar-tests-';

/**
 * The socket that a run listens on: the system closes it however the run ends, and no other process inherits it. On
 * Windows it is a pipe, which is in no folder.
 */
function socketOf(folder: string): string {
  return process.platform === 'win32' ? `\\\\.\\pipe\\${basename(folder)}` : join(folder, 'alive');
}

/** What a run has made outside its folder, a path a line: they go with the folder. */
const ELSEWHERE = 'elsewhere';

/** Milliseconds in which a run that has made its folder comes to listen. */
const STARTING = 60_000;

/** The temporary folder of one run of the tests. */
export interface RunFolder {
  /** Seven hexadecimal digits that no other run has. */
  readonly run: string;
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Makes a temporary folder for a run of the tests, which `elsewhere`, paths outside of it, go with. Its name is short:
 * paths of sockets may have 104 bytes on macOS.
 */
export async function openRunFolder(elsewhere: readonly string[]): Promise<RunFolder> {
  const run = randomBytes(4).toString('hex').slice(1);
  const path = join(await realpath(tmpdir()), `${PREFIX}${run}`);
  await mkdir(path);
  const server = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve) => server.listen(socketOf(path), resolve));
  await writeFile(join(path, ELSEWHERE), elsewhere.join('\n'));
  return {
    run,
    path,
    async remove() {
      await removeFolder(path);
      server.close();
    },
  };
}

/** Removes the folders of runs that were killed; what cannot be removed is reported and tried again by the next run. */
export async function removeDeadRuns(): Promise<void> {
  const parent = await realpath(tmpdir());
  const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX));
  for (const folder of names.map((name) => join(parent, name))) {
    if (await isAlive(folder)) continue;
    const elsewhere = await readFile(join(folder, ELSEWHERE), 'utf8').catch(() => '');
    try {
      for (const path of elsewhere.split('\n').filter((line) => line !== '')) await removeFolder(path);
      await removeFolder(folder);
    } catch (error) {
      process.stderr.write(`A folder of an earlier run of the tests stays: ${String(error)}\n`);
    }
  }
}

async function isAlive(folder: string): Promise<boolean> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect(socketOf(folder));
    socket.once('connect', () => resolve(undefined)).once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.once('connect', () => socket.destroy());
  });
  if (code === 'ECONNREFUSED') return false;
  if (code !== 'ENOENT') return true;
  const made = await stat(folder).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs < STARTING;
}

async function removeFolder(folder: string): Promise<void> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '');
  for (const [, mounted = ''] of mounts.split('\n').map((line) => line.split(' '))) {
    if (mounted.startsWith(`${folder}/`)) spawnSync('umount', ['-l', mounted]);
  }
  // A process of the run that has not ended yet may go on writing.
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
