import { constants, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  closeFile,
  createPrivate,
  isOpenToOthers,
  makePrivateFolder,
  openNameless,
  replacePrivate,
} from '../../src/filesystem/private.ts';
import { system } from '../../src/filesystem/system.ts';
import { need } from '../support/capabilities.ts';
import { leftOpenBelow } from '../support/descriptors.ts';
import { replaceSystem, systemError } from '../support/othersystem.ts';

let folder: string;
const at = (name: string) => join(folder, name);
const modeOf = async (name: string) => (await stat(at(name))).mode & 0o777;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-private-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('by modes', () => {
  it('a folder and all that had to be made above it', async () => {
    expect(await makePrivateFolder(at('a/b'))).toBe(true);
    expect([await modeOf('a'), await modeOf('a/b')]).toEqual([0o700, 0o700]);
    await chmod(at('a'), 0o755);
    expect(await makePrivateFolder(at('a'))).toBe(false);
    expect(await modeOf('a')).toBe(0o755);
  });

  it('the names of new folders last, each in the folder above', async (context) => {
    if (process.platform === 'win32') context.skip('folders are not synced');
    const synced: string[] = [];
    const { openSync } = system;
    replaceSystem({
      openSync: (path, flags) => {
        synced.push(String(path).slice(folder.length));
        return openSync(path, flags);
      },
    });
    await makePrivateFolder(at('a/b/c'));
    expect(synced).toEqual(['/a/b', '/a', '']);
    await makePrivateFolder(at('a/b/c'));
    expect(synced).toHaveLength(3);
  });

  it('a file that is new, whatever the mask of the process lets through', async () => {
    const mask = process.umask(0);
    onTestFinished(() => void process.umask(mask));
    await (await createPrivate(at('key'), constants.O_APPEND)).close();
    expect(await modeOf('key')).toBe(0o600);
    await expect(createPrivate(at('key'))).rejects.toMatchObject({ code: 'EEXIST' });
  });

  it('a link is replaced, and what it leads to stays as it was', async (context) => {
    need(context, 'symlinks');
    await writeFile(at('theirs'), 'theirs');
    await symlink(at('theirs'), at('part'));
    const file = await replacePrivate(at('part'));
    await file.writeFile('ours').finally(() => file.close());
    expect([await readFile(at('theirs'), 'utf8'), await readFile(at('part'), 'utf8')]).toEqual(['theirs', 'ours']);
  });

  it('a file without a name', async () => {
    const file = await openNameless(folder);
    expect(await readdir(folder)).toEqual([]);
    await file.writeFile('text');
    expect((await file.read(Buffer.alloc(4), 0, 4, 0)).buffer.toString()).toBe('text');
    await file.close();
    // One that keeps its name is not left open either.
    replaceSystem({ unlink: () => Promise.reject(systemError('EIO')) });
    await expect(openNameless(folder)).rejects.toThrow('EIO');
    expect(leftOpenBelow(folder)).toEqual([]);
  });

  it('a file that is open is closed to others even when its name leads elsewhere', async (context) => {
    need(context, 'symlinks');
    await writeFile(at('ours'), '', { mode: 0o644 });
    await writeFile(at('theirs'), '', { mode: 0o644 });
    const file = await createPrivate(at('open'));
    await file.chmod(0o644);
    await rm(at('open'));
    await symlink(at('theirs'), at('open'));
    await closeFile(at('open'), file);
    expect((await file.stat()).mode & 0o777).toBe(0o600);
    expect(await modeOf('theirs')).toBe(0o644);
    await file.close();
    await closeFile(at('ours'));
    expect(await modeOf('ours')).toBe(0o600);
  });

  it('isOpenToOthers looks at the bits that are asked for, and at none on Windows', () => {
    expect([0o600, 0o640, 0o604].map((mode) => isOpenToOthers({ mode }))).toEqual([false, true, true]);
    expect([0o640, 0o604].map((mode) => isOpenToOthers({ mode }, 0o007))).toEqual([false, true]);
    replaceSystem({ platform: 'win32' });
    expect(isOpenToOthers({ mode: 0o666 })).toBe(false);
  });
});

describe('by access lists', () => {
  const ran: string[][] = [];
  const said: string[] = [];

  /** The modules as a process on Windows has them at its start; `icacls` may fail. */
  async function windows(icacls: (path: string) => void = () => undefined) {
    vi.resetModules();
    const { system } = await import('../../src/filesystem/system.ts');
    const { attend } = await import('../../src/filesystem/held.ts');
    ran.length = 0;
    said.length = 0;
    attend({ say: (text) => void said.push(text) });
    // Test files that the same worker runs afterwards get these modules.
    const before = { ...system };
    onTestFinished(() => {
      Object.assign(system, before);
      attend({ say: () => undefined });
    });
    Object.assign(system, {
      platform: 'win32',
      windowsFolder: 'C:\\Windows',
      // As Node tells there which folder it made first.
      mkdir: (async (...args: Parameters<typeof mkdir>) => {
        const made = await mkdir(...args);
        return made && `\\\\?\\${made}`;
      }) as typeof mkdir,
      run: async (program: string, args: readonly string[]) => {
        ran.push([program, ...args]);
        if (program.endsWith('whoami.exe')) return '"desk\\ann, \\"the\\" first","S-1-5-21-1-2-3-1001"\r\n';
        icacls(args[0] ?? '');
        return '';
      },
    } satisfies Partial<typeof system>);
    return import('../../src/filesystem/private.ts');
  }

  const ICACLS = 'C:\\Windows\\System32\\icacls.exe';
  const rule = (path: string, rights: string) => [
    ICACLS,
    path,
    '/inheritance:r',
    '/grant:r',
    `*S-1-5-21-1-2-3-1001:${rights}`,
  ];

  it('grants a file to the user by identifier, asked for once, and to nobody else, before anything is in it', async () => {
    const sizes: number[] = [];
    const files = await windows((path) => void sizes.push(statSync(path).size));
    for (const name of ['a', 'b']) await (await files.createPrivate(at(name))).close();
    await files.closeFile(at('a'));
    expect(sizes).toEqual([0, 0, 0]);
    expect(ran).toEqual([
      ['C:\\Windows\\System32\\whoami.exe', '/user', '/fo', 'csv', '/nh'],
      rule(at('a'), 'F'),
      rule(at('b'), 'F'),
      rule(at('a'), 'F'),
    ]);
    expect(said).toEqual([]);
  });

  it('a folder hands its list down: what is made inside needs none of its own', async () => {
    const files = await windows();
    await files.makePrivateFolder(at('a/b'));
    await (await files.createPrivate(at('a/b/file'))).close();
    await files.makePrivateFolder(at('a/c'));
    await files.closeFolder(at('a'));
    expect(ran.slice(1)).toEqual([rule(at('a'), '(OI)(CI)F')]);
    await (await files.createPrivate(at('ab'))).close();
    expect(ran.slice(2)).toEqual([rule(at('ab'), 'F')]);
    await rm(at('a'), { recursive: true });
    await files.makePrivateFolder(at('a'));
    expect(ran.slice(3)).toEqual([rule(at('a'), '(OI)(CI)F')]);
  });

  it('a file without a name needs none', async () => {
    const files = await windows();
    await (await files.openNameless(folder)).close();
    expect(ran).toEqual([]);
  });

  it('a folder that was there keeps its list', async () => {
    const files = await windows();
    await mkdir(at('there'));
    expect(await files.makePrivateFolder(at('there'))).toBe(false);
    expect(ran).toEqual([]);
  });

  it('says once that others may read, and goes on', async () => {
    const files = await windows(() => {
      throw Object.assign(new Error('spawn icacls.exe ENOENT'), { code: 'ENOENT' });
    });
    for (const name of ['a', 'b']) {
      const file = await files.createPrivate(at(name));
      await file.writeFile('text').finally(() => file.close());
    }
    expect(said).toEqual([expect.stringContaining(`Others on this computer may be able to read ${at('a')}`)]);
    expect(await readFile(at('b'), 'utf8')).toBe('text');
    await files.makePrivateFolder(at('open'));
    // A folder whose list could not be set hands nothing down.
    const before = ran.length;
    await (await files.createPrivate(at('open/file'))).close();
    expect(ran.length).toBe(before + 1);
  });
});
