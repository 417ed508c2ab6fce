import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from './tree.ts';

interface Bundler {
  bundle(root: string, outdir: string, plugins?: readonly unknown[]): Promise<string[]>;
}

const PATIENTS = [{ id: 7, firstName: 'Ann', lastName: 'Example' }];

describe('the program without the plugins of its bundler', () => {
  let folder: string;
  let service: Server;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'molar-plain-'));
    for (const name of ['bin/run.js', 'bin/package.json', 'package.json', 'oclif.manifest.json', 'docs/help']) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const { bundle }: Bundler = await import(pathToFileURL(join(ROOT, 'bin/bundle.mjs')).href);
    await bundle(ROOT, join(folder, 'dist'), []);
    service = createServer((request, response) => {
      const isFirst = !request.url?.includes('lastId=7');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: isFirst ? PATIENTS : [], meta: {}, warnings: [], errors: [] }));
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (...args: string[]) =>
    spawn(process.execPath, [join(folder, 'bin/run.js'), ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        MOLAR_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
        MOLAR_ORGANIZATION: 'demo',
        MOLAR_TOKEN: 'token',
      },
    });
  const molar = (...args: string[]) => text(start(...args).stdout);

  it('reads from a service', async () => {
    expect(await molar('patients', 'list', '--limit', '1', '--fields', 'id,lastName', '--csv')).toBe(
      'id,lastName\n7,Example\n',
    );
  });

  it('shows a page of help', async () => {
    expect(await molar('help', 'paging')).toContain('HOW MUCH IS READ');
  });

  it('serves', async () => {
    const server = start('serve', '--data', join(folder, 'data'), '--port', '0', '--json');
    const [line] = await once(server.stdout, 'data');
    expect(JSON.parse(String(line))).toMatchObject({ event: 'listening' });
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  });
});
