import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder } from '../../../../src/server/datafolder.ts';
import { lockFolder } from '../../../../src/server/store/sqlite/lock.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const started: ChildProcess[] = [];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-lock-'));
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

/** Another process that locks the folder, and keeps nothing that it could unlock it with. */
async function holder(): Promise<ChildProcess> {
  const program = join(folder, 'holder.mjs');
  const contents = `import { lockFolder } from './src/server/store/sqlite/lock.ts';
    lockFolder(process.argv[2]); global.gc(); process.stdout.write('locked'); setInterval(() => {}, 1000);`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  await writeFile(program, outputFiles[0]?.contents ?? '');
  // The native driver is found where this checkout has it.
  const child = spawn(process.execPath, ['--expose-gc', program, folder], {
    env: { ...process.env, NODE_PATH: join(ROOT, 'node_modules') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

describe('the lock of a data folder', () => {
  it('refuses a second server on it, and says what to do', async () => {
    const first = await openFolder(folder, { serving: true });
    const second = openFolder(folder, { serving: true });
    await expect(second).rejects.toBeInstanceOf(StoreUnusable);
    await expect(second).rejects.toMatchObject({
      message: `Another server is running on ${folder}.`,
      next: expect.stringContaining('--data'),
    });
    await first.close();
    await (await openFolder(folder, { serving: true })).close();
  });

  it('lets an import in beside a server', async () => {
    const server = await openFolder(folder, { serving: true });
    const importer = await openFolder(folder, { serving: false });
    await importer.close();
    await server.close();
  });

  it('is refused beside a server of another process, and free the moment that one is killed', async () => {
    const child = await holder();
    expect(() => lockFolder(folder)).toThrow(StoreUnusable);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const unlock = lockFolder(folder);
    expect(() => lockFolder(folder)).toThrow(StoreUnusable);
    unlock();
    lockFolder(folder)();
  });

  it('is let go when opening fails', async () => {
    await writeFile(
      join(folder, 'molar.sqlite'),
      'this is no database, and long enough to be told apart from an empty one',
    );
    await expect(openFolder(folder, { serving: true })).rejects.toThrow();
    lockFolder(folder)();
  });
});
