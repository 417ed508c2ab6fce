import { readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, it } from 'vitest';
import { lockOwner } from '../../../src/cli/process/lockowner.ts';
import MirrorReset from '../../../src/commands/mirror/reset.ts';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import { holdMirror } from '../../../src/core/mirror/access.ts';
import { sqlitePackage } from '../../../src/sqlite/open.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { startFaithful } from '../../faithful/service.ts';
import { need } from '../../support/capabilities.ts';
import { clock, mirrorFolder, syncTo } from './mirroring.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  ({ folder, file } = await mirrorFolder());
  const service = await startFaithful({ seed: 'in use', moods: {} });
  await syncTo(file, ['transactiontags'], { env: service.env });
  await service.close();
});

const env = { MOLAR_CONFIG_DIR: '/nonexistent' };
const status = (words: readonly string[]) => runCommand('mirror:status', MirrorStatus, [...words, '--json'], { env });

/** Holds a whole database file, as who closes it last does, and lets it go a while after it has said so. */
const HOLDER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new (require(workerData.driver))(workerData.file);
  database.pragma('locking_mode = EXCLUSIVE');
  database.exec('BEGIN IMMEDIATE; COMMIT');
  parentPort.postMessage('held');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  database.close();
`;

it('is read by who waits until another process has closed it', async () => {
  const driver = createRequire(import.meta.url).resolve(sqlitePackage(process.version));
  const holder = new Worker(HOLDER, { eval: true, workerData: { driver, file } });
  await new Promise((resolve) => holder.once('message', resolve));
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  const ran = await status(['--to', file]);
  await ended;
  expect(ran.exitCode, ran.stderr).toBe(0);
});

it('has one lock, also for who knows it by a link', async (context) => {
  need(context, 'symlinks');
  const link = join(folder, 'link.db');
  await symlink(file, link);
  const { release } = await holdMirror({ kind: 'file', name: file }, 'molar mirror sync', lockOwner(clock));
  try {
    const ran = await status(['--to', link]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ lock: { pid: process.pid, command: 'molar mirror sync' } });
    const words = ['--to', link, '--yes'];
    expect((await runCommand('mirror:reset', MirrorReset, words, { env })).exitCode).toBe(9);
  } finally {
    await release();
  }
});

it('is gone after it was reset by a link', async (context) => {
  need(context, 'symlinks');
  const link = join(folder, 'link.db');
  await symlink(file, link);
  await runCommand('mirror:reset', MirrorReset, ['--to', link, '--yes'], { env });
  expect(await readdir(folder)).toEqual(['link.db']);
});
