import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { type Ended, exit, molar, RUN, text } from '../molar.ts';

/** A folder with a practice in `d`, on a disk that can be filled and emptied, and a server on it. */
export interface SmallDisk {
  readonly folder: string;
  /** Starts the server, or starts it anew; answers where it listens. */
  serve(): Promise<string>;
  /** Leaves no room; answers where the server listens then. */
  fill(): Promise<string>;
  /** Gives room back; answers where the server listens then. */
  empty(): Promise<string>;
  /** Runs molar while there is no room. */
  molarWhenFull(args: readonly string[]): Promise<Ended>;
  /** Runs molar while nothing can be written. */
  molarWhenReadOnly(args: readonly string[]): Promise<Ended>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  remove(): Promise<void>;
}

const DISK_BYTES = 16 * 1024 * 1024;

/** Blocks of a file that is as large as one may be where no disk can be mounted: of 512 or 1024 bytes. */
const FILE_BLOCKS = 2048;

const SERVE = [
  'serve',
  '--port',
  '0',
  '--json',
  '--data',
  'd',
  '--rate-limit',
  '0',
  '--log-level',
  'silent',
  '--file-retention',
  '0',
];

/** A small disk in memory where one may be mounted; elsewhere a limit on the size of files, which every user may set. */
export function smallDisk(parent: string): SmallDisk {
  const folder = join(parent, 'disk');
  mkdirSync(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES},mode=700`, 'tmpfs', folder]);
  return mounted.status === 0 ? new MountedDisk(folder) : new LimitedFiles(folder);
}

class Serving {
  readonly folder: string;
  private child: ReturnType<typeof spawn> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** `blocks`: no file may become larger. */
  protected async listening(blocks?: number): Promise<string> {
    await this.stop('SIGKILL');
    const child = launch(this.folder, SERVE, blocks);
    this.child = child;
    const errors = text(child.stderr);
    for await (const line of createInterface({ input: child.stdout })) return (JSON.parse(line) as { url: string }).url;
    throw new Error(`serve ended: ${await errors}`);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined) return null;
    child.kill(signal);
    return exit(child);
  }
}

async function ended(child: ReturnType<typeof launch>): Promise<Ended> {
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

function launch(folder: string, args: readonly string[], blocks: number | undefined, user: object = {}) {
  const options = { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'], ...user };
  if (blocks === undefined) return spawn(process.execPath, [RUN, ...args], options);
  return spawn('sh', ['-c', `ulimit -S -f ${blocks}; exec "$0" "$@"`, process.execPath, RUN, ...args], options);
}

class MountedDisk extends Serving implements SmallDisk {
  private url = '';

  private get filler(): string {
    return join(this.folder, 'filler');
  }

  async serve(): Promise<string> {
    this.url = await this.listening();
    return this.url;
  }

  async fill(): Promise<string> {
    // More than there is room for, however much of it the server takes or gives up in the meantime.
    expect(() => writeFileSync(this.filler, Buffer.alloc(DISK_BYTES))).toThrow('ENOSPC');
    return this.url;
  }

  async empty(): Promise<string> {
    rmSync(this.filler);
    return this.url;
  }

  async molarWhenFull(args: readonly string[]): Promise<Ended> {
    await this.fill();
    const ended = await molar(this.folder, args);
    await this.empty();
    return ended;
  }

  async molarWhenReadOnly(args: readonly string[]): Promise<Ended> {
    spawnSync('mount', ['-o', 'remount,ro', this.folder]);
    const ended = await molar(this.folder, args);
    spawnSync('mount', ['-o', 'remount,rw', this.folder]);
    return ended;
  }

  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    spawnSync('umount', ['-l', this.folder]);
  }
}

class LimitedFiles extends Serving implements SmallDisk {
  serve(): Promise<string> {
    return this.listening();
  }

  fill(): Promise<string> {
    return this.listening(FILE_BLOCKS);
  }

  empty(): Promise<string> {
    return this.listening();
  }

  molarWhenFull(args: readonly string[]): Promise<Ended> {
    return ended(launch(this.folder, args, 0));
  }

  async molarWhenReadOnly(args: readonly string[]): Promise<Ended> {
    const data = join(this.folder, 'd');
    chmodSync(data, 0o500);
    // Permissions hold nobody back who may do everything.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const done = await ended(launch(this.folder, args, undefined, nobody));
    chmodSync(data, 0o700);
    return done;
  }

  async remove(): Promise<void> {
    await this.stop('SIGKILL');
  }
}
