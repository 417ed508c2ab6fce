import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type Ended, workplace } from '../molar.ts';
import { installerOf, makeRelease, newKey, run } from './release.ts';

/** Programs that install.sh needs, besides one that downloads. */
export const PLAIN = 'sh cat grep ln mkdir mv readlink rm sha256sum tar uname wc xz'.split(' ');

/** The archive of a version for this machine. */
export const archiveOf = (version: string) => `molar-${version}-linux-${process.arch}.tar.xz`;

/** A place where molar is published, its installer, and a new home for each test. */
export class Site {
  readonly signing = newKey();
  /** The folder that is published. */
  release = '';
  /** Its address. */
  base = '';
  script = '';
  home = '';
  /** The paths that were asked for. */
  asked: string[] = [];
  /** Answers in place of the file, where it says so. */
  instead: ((path: string, response: ServerResponse) => boolean) | undefined;
  private place: Awaited<ReturnType<typeof workplace>> | undefined;
  private server: Server | undefined;
  private made = 0;

  constructor() {
    beforeAll(() => this.open());
    afterAll(() => this.close());
    beforeEach(() => this.move());
  }

  /** A new home for whoever installs. */
  async move(): Promise<void> {
    this.home = this.path(`home-${++this.made}`);
    await mkdir(this.home);
    this.instead = undefined;
    this.asked = [];
  }

  at(path: string): string {
    return join(this.home, '.local', path);
  }

  /** Publishes a version in place of the one before; what has no contents of its own is made once. */
  async publish(version: string, contents?: Parameters<typeof makeRelease>[3]): Promise<void> {
    const folder = join(this.path('releases'), contents === undefined ? version : `${version}-${++this.made}`);
    if (!existsSync(folder)) await makeRelease(folder, version, this.signing.key, contents);
    await rm(this.release, { recursive: true, force: true });
    await cp(folder, this.release, { recursive: true });
  }

  environment(env: Record<string, string> = {}): Record<string, string> {
    return { HOME: this.home, SHELL: '/bin/bash', ...env };
  }

  install(
    args: readonly string[] = [],
    env: Record<string, string> = {},
    [shell = '', ...more]: readonly string[] = ['sh'],
  ): Promise<Ended> {
    return run(shell, [...more, this.script, ...args], this.environment(env), this.home);
  }

  /** The version that runs, where there is one; fails for what an installation has left half done. */
  async installed(): Promise<string | undefined> {
    const versions = await readdir(this.at('lib/molar')).catch(() => []);
    expect(versions.filter((name) => name.startsWith('.'))).toEqual([]);
    if (!existsSync(this.at('bin/molar'))) return undefined;
    const { stdout } = await run(this.at('bin/molar'), ['--version']);
    return /^molar-cli\/(\S+) /.exec(stdout)?.[1];
  }

  /** A PATH with these programs only. */
  async pathOf(programs: readonly string[]): Promise<string> {
    const folder = join(this.home, 'programs');
    await mkdir(folder);
    for (const name of programs) {
      const found = (await run('sh', ['-c', `command -v ${name}`])).stdout.trim();
      if (found.startsWith('/')) await symlink(found, join(folder, name));
    }
    return folder;
  }

  private path(name: string): string {
    return join(this.place?.path ?? '', name);
  }

  private async open(): Promise<void> {
    this.place = await workplace();
    this.release = this.path('release');
    this.script = this.path('install.sh');
    this.base = await this.serve();
    await this.publish('0.1.0');
    await writeFile(this.script, await installerOf(this.base, this.signing.key));
  }

  private serve(): Promise<string> {
    const server = createServer(async ({ url = '/' }, response) => {
      const path = url.slice(1);
      this.asked.push(path);
      if (this.instead?.(path, response)) return;
      const content = await readFile(join(this.release, path)).catch(() => undefined);
      response.writeHead(content === undefined ? 404 : 200).end(content);
    });
    this.server = server;
    return new Promise((listening) => {
      server.listen(0, '127.0.0.1', () => listening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    });
  }

  private async close(): Promise<void> {
    this.server?.closeAllConnections();
    this.server?.close();
    await this.place?.remove();
  }
}
