import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onPostgres } from './postgres.ts';

/** Where Debian has the programs that are not in the path. */
const DEBIAN = '/usr/lib/postgresql';

/** The programs of PostgreSQL refuse to run as root. */
const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'];

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(...command(program, args), { stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error ?? stderr}`);
}

function command(program: string, args: readonly string[]): [string, string[]] {
  const newest = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .toSorted((a, b) => Number(a) - Number(b))
        .at(-1)
    : undefined;
  const path = newest === undefined || program.startsWith('/') ? program : join(DEBIAN, newest, 'bin', program);
  const [first = path, ...rest] = process.getuid?.() === 0 ? [...AS_POSTGRES, path] : [path];
  return [first, [...rest, ...args]];
}

/** Whether clusters can be made here; in CI it is a failure when not. */
export function canMakeClusters(): boolean {
  const found = spawnSync(...command('initdb', ['--version'])).status === 0;
  if (!found && process.env.CI === 'true')
    throw new Error('CI needs initdb, pg_basebackup and pg_ctl, and the user postgres.');
  return found;
}

/** A PostgreSQL of a test's own, in a folder below one that its user can enter. */
export class PostgresCluster {
  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /** Makes, in a folder that is not there yet, what new ones begin with: to do it anew takes longer than to copy it. */
  static template(folder: string): string {
    run('initdb', ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']);
    return folder;
  }

  /** A new one that archives its log to a folder. */
  static async make(top: string, name: string, archive: string, template: string): Promise<PostgresCluster> {
    const made = new PostgresCluster(join(top, name), await freePort());
    run('/bin/cp', ['-R', '-p', template, made.folder]);
    await made.configure(`archive_mode = on\narchive_command = 'cp %p "${archive}/%f"'`);
    await made.start();
    return made;
  }

  /** A base backup of this one, which is not started; `more` is what `pg_basebackup` is told besides. */
  async copy(top: string, name: string, more: readonly string[] = []): Promise<PostgresCluster> {
    const made = new PostgresCluster(join(top, name), await freePort());
    const source = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'postgres'];
    run('pg_basebackup', ['-D', made.folder, ...source, '-c', 'fast', '--no-sync', ...more]);
    await made.configure('archive_mode = off');
    return made;
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async ask(text: string, database = 'postgres'): Promise<unknown> {
    const { rows } = await onPostgres((client) => client.query(text), this.url(database));
    return Object.values((rows[0] ?? {}) as Record<string, unknown>)[0];
  }

  async until(text: string): Promise<void> {
    while ((await this.ask(text)) !== true) await sleep(50);
  }

  configure(lines: string): Promise<void> {
    const own = `listen_addresses = '127.0.0.1'\nport = ${this.port}\nunix_socket_directories = ''\nfsync = off`;
    return appendFile(join(this.folder, 'postgresql.conf'), `${own}\n${lines}\n`);
  }

  /** Begins by recovering from an archive, up to a time. */
  async recoverTo(time: string, archive: string): Promise<void> {
    await this.configure(
      `restore_command = 'cp "${archive}/%f" "%p"'\nrecovery_target_time = '${time}'\nrecovery_target_action = promote`,
    );
    await writeFile(join(this.folder, 'recovery.signal'), '');
    await this.start();
    await this.until('SELECT NOT pg_is_in_recovery()');
  }

  async start(): Promise<void> {
    run('pg_ctl', ['-D', this.folder, '-w', '-l', join(this.folder, 'server.log'), 'start']);
  }

  async promote(): Promise<void> {
    run('pg_ctl', ['-D', this.folder, '-w', 'promote']);
  }

  /** Ends it as a power cut does; does nothing where it does not run. */
  stop(): void {
    if (existsSync(join(this.folder, 'postmaster.pid'))) run('pg_ctl', ['-D', this.folder, '-m', 'immediate', 'stop']);
  }
}

/** A folder that the user of clusters can write to. */
export async function clusterFolder(path: string): Promise<string> {
  await mkdir(path);
  if (process.getuid?.() === 0 && spawnSync('chown', ['postgres:', path]).status !== 0) throw new Error('No postgres.');
  return path;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
