import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdLock, type LockOwner } from '../../../src/core/lockfile.ts';
import { type Profile, readConfig } from '../../../src/core/profiles/config.ts';
import { changeConfig, withProfile } from '../../../src/core/profiles/store.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'molar', 'config.json');
});
afterEach(() => rm(folder, { recursive: true }));

const AT = Date.parse('2026-11-21T20:00:00.000Z');

function owner(sleep: () => Promise<void> = () => new Promise((done) => setImmediate(done))): LockOwner {
  return { pid: 7, host: 'desk', clock: { now: () => AT, sleep }, lifeOf: () => ({ alive: true }) };
}

const profile = (organization: string): Profile => ({
  url: 'https://api.example.com',
  organization,
  secret: { kind: 'command', command: 'pass show x' },
});

describe('changeConfig', () => {
  it('makes the folder and a file that only its owner reads, and leaves no lock', async () => {
    await changeConfig(path, (config) => withProfile(config, 'work', profile('org-1')), owner());
    expect(readConfig(path)).toEqual({ profile: 'work', profiles: { work: profile('org-1') }, defaults: {} });
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
    expect(await readdir(join(folder, 'molar'))).toEqual(['config.json']);
  });

  it('loses nothing when several change it at one moment', async () => {
    const names = Array.from({ length: 8 }, (_, at) => `profile-${at}`);
    await Promise.all(
      names.map((name) => changeConfig(path, (config) => withProfile(config, name, profile(name)), owner())),
    );
    expect(Object.keys(readConfig(path).profiles).sort()).toEqual(names);
  });

  it('lets go of the file when the change fails', async () => {
    const fails = () => {
      throw new Error('no');
    };
    await expect(changeConfig(path, fails, owner())).rejects.toThrow('no');
    await changeConfig(path, (config) => config, owner());
    expect(await readdir(join(folder, 'molar'))).toEqual(['config.json']);
  });

  it('waits for who holds it, and fails when that goes on', async () => {
    await changeConfig(path, (config) => config, owner());
    const release = await holdLock(`${path}.lock`, 'The config file', owner());
    let sleeps = 0;
    const patient = owner(async () => {
      sleeps++;
      if (sleeps === 3) await release();
    });
    await changeConfig(path, (config) => ({ ...config, defaults: { pageSize: '10' } }), patient);
    expect(sleeps).toBe(3);
    expect(readConfig(path).defaults).toEqual({ pageSize: '10' });

    await holdLock(`${path}.lock`, 'The config file', owner());
    await expect(changeConfig(path, (config) => ({ ...config, defaults: {} }), owner())).rejects.toMatchObject({
      exitCode: 9,
      message: `The config file is in use by process 7 since 2026-11-21T20:00:00.000Z (${path}.lock).`,
    });
    expect(readConfig(path).defaults).toEqual({ pageSize: '10' });
  });

  it('tells where it cannot write', async () => {
    await writeFile(join(folder, 'molar'), '');
    await expect(changeConfig(path, (config) => config, owner())).rejects.toMatchObject({ exitCode: 9 });
  });
});
