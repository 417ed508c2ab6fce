import { fstatSync, type PathLike, readlinkSync } from 'node:fs';
import { chmod, type FileHandle, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockOwner } from '../../src/cli/process/lockowner.ts';
import { systemClock } from '../../src/core/clock.ts';
import { PartFile } from '../../src/core/documents/downloads/partfile.ts';
import { Bookmarks } from '../../src/core/exports/bookmark.ts';
import { removeState } from '../../src/core/exports/folderstate.ts';
import { type Journal, writeJournal } from '../../src/core/exports/journal.ts';
import { makeKey } from '../../src/core/mirror/deidentify/keyfile.ts';
import { SQLITE_ENGINE } from '../../src/core/mirror/sqlite/engine.ts';
import { writeAtomicFile } from '../../src/core/output/atomicfile.ts';
import {
  removeDurably,
  removeEmptyFolder,
  removeFile,
  removeTree,
  syncFolder,
  syncPath,
  writeDurably,
} from '../../src/filesystem/durable.ts';
import { createPrivate } from '../../src/filesystem/private.ts';
import { system } from '../../src/filesystem/system.ts';
import { openAuditKey } from '../../src/server/audit/keys.ts';
import { openDiskFiles } from '../../src/server/files/disk.ts';
import { openPartFolder } from '../../src/server/maintenance/partfolder.ts';
import { claimFolder } from '../../src/server/store/sqlite/staging.ts';
import { need } from '../support/capabilities.ts';
import { onWindows, replaceSystem, systemError } from '../support/othersystem.ts';

let folder: string;
const at = (name: string) => join(folder, name);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'molar-durable-')));
});

afterEach(() => rm(folder, { recursive: true }));

/** What a descriptor of this process is open on, as the system tells it. */
const nameOf = (descriptor: number) => readlinkSync(`/proc/self/fd/${descriptor}`).slice(folder.length);

describe('what the system sees', () => {
  beforeEach((context) => {
    need(context, 'proc');
  });

  /** What happens to names and to the disk until `work` is done, in order, and with which text. */
  async function orderOf(work: () => Promise<unknown>): Promise<string[]> {
    const { sync, datasync, fsync, rename, link, unlink } = system;
    const seen: string[] = [];
    const noteSync = (descriptor: number) => {
      const facts = fstatSync(descriptor);
      seen.push(
        facts.isDirectory() ? `folder ${nameOf(descriptor)}` : `file ${nameOf(descriptor)}, ${facts.size} bytes`,
      );
    };
    const short = (path: PathLike) => String(path).slice(folder.length);
    replaceSystem({
      sync: (file) => {
        noteSync(file.fd);
        return sync(file);
      },
      datasync: (file) => {
        noteSync(file.fd);
        return datasync(file);
      },
      fsync: (descriptor) => {
        noteSync(descriptor);
        return fsync(descriptor);
      },
      rename: (from, to) => {
        seen.push(`rename ${short(from)} to ${short(to)}`);
        return rename(from, to);
      },
      unlink: async (path) => {
        await unlink(path);
        seen.push(`remove ${short(path)}`);
      },
      link: (from, to) => {
        seen.push(`link ${short(from)} as ${short(to)}`);
        return link(from, to);
      },
    });
    await work();
    return seen;
  }

  it('a file is synced with its text, then renamed, then its folder is synced, and then it is acknowledged', async () => {
    expect(await orderOf(() => writeAtomicFile(at('a.csv'), 'text'))).toEqual([
      'file /a.csv.part, 4 bytes',
      'rename /a.csv.part to /a.csv',
      'folder ',
    ]);
  });

  it('keys are there before anything depends on them', async () => {
    expect(await orderOf(() => makeKey(at('key')))).toEqual(['file /key, 32 bytes', 'folder ']);
    expect(await orderOf(() => openAuditKey(at('audit.key')))).toEqual([
      expect.stringMatching(/^file \/audit\.key, 1\d\d bytes$/),
      'folder ',
    ]);
  });

  it('a document of the server is synced when it has arrived, and its name before it is promised', async () => {
    const files = await openDiskFiles(folder);
    const stage = await files.stage('aa11-original');
    await stage.write(Buffer.from('text'));
    expect(await orderOf(() => stage.finish())).toEqual(['file /incoming/aa11-original, 4 bytes']);
    expect(await orderOf(() => files.persist(['aa11-original']))).toEqual(['folder /incoming']);
  });

  it('what an import has staged is there before anything of it is published', async () => {
    const claim = claimFolder(at('molar.sqlite'));
    const area = await claim?.open('ab12');
    const [file, ...more] = await orderOf(async () => area?.sync());
    expect([file, more]).toEqual([expect.stringMatching(/^file \/import-ab12\.sqlite, [1-9]\d+ bytes$/), ['folder ']]);
    await area?.close();
    await claim?.release();
  });

  it('what a command has removed does not come back', async () => {
    const key = { name: 'nightly', url: 'https://api.example.com', organization: 'org-1', resource: 'patients' };
    const bookmarks = new Bookmarks(at('bookmarks'));
    const since = '2026-03-02T12:00:00Z';
    await bookmarks.move({ ...key, version: 1, filter: null, since, runStartedAt: since, exported: {} });
    expect(await orderOf(() => bookmarks.remove(key))).toEqual([
      expect.stringMatching(/^remove \/bookmarks\/nightly-patients-/),
      'folder /bookmarks',
    ]);
    await writeFile(at('.molar-export.json'), '{}');
    expect(await orderOf(() => removeState(folder))).toEqual(['remove /.molar-export.json', 'folder ']);
    // As a process leaves it that was killed.
    const database = ['practice.db', 'practice.db-wal', 'practice.db-shm'];
    for (const name of database) await writeFile(at(name), '');
    const place = { kind: 'file', name: at('practice.db') } as const;
    const mirror = await SQLITE_ENGINE.hold(place, 'molar mirror reset', lockOwner(systemClock));
    expect(await orderOf(() => mirror.remove())).toEqual(database.flatMap((name) => [`remove /${name}`, 'folder ']));
    await mirror.release();
    await removeDurably(at('no/such/file'));
  });

  it('a backup has its name when everything in it is on the disk', async () => {
    const part = await openPartFolder(at('backup'));
    await mkdir(at('backup.part/files/ab'), { recursive: true });
    expect(await orderOf(() => part.finish())).toEqual([
      'folder /backup.part/files/ab',
      'folder /backup.part/files',
      'folder /backup.part',
      'rename /backup.part to /backup',
      'folder ',
      'remove /backup.part.lock',
      'remove /backup/unfinished.lock',
      'folder /backup',
    ]);
  });

  it('a download is synced before it has its name, and its name before that is told', async () => {
    const key = { server: '', organization: '', id: 5, variant: 'original', guid: null };
    const part = await PartFile.open({ path: at('scan.pdf'), label: 'scan.pdf' }, key);
    await part.begin(undefined);
    await part.write(Buffer.from('text'));
    expect(await orderOf(() => part.publish(false))).toEqual([
      'file /scan.pdf.part, 4 bytes',
      'link /scan.pdf.part as /scan.pdf',
      'remove /scan.pdf.part',
      'folder ',
    ]);
  });

  it('the journal of an export is whole under its name', async () => {
    const journal = { version: 1 } as Journal;
    expect(await orderOf(() => writeJournal(at('a.csv.part'), journal))).toEqual([
      'file /a.csv.part.json.new, 14 bytes',
      'rename /a.csv.part.json.new to /a.csv.part.json',
    ]);
  });

  it('a file that somebody else wrote is opened for writing to be synced', async () => {
    await writeFile(at('db'), 'x');
    let flags = '';
    const { sync } = system;
    let synced: FileHandle | undefined;
    replaceSystem({
      async sync(file) {
        synced = file;
        flags = /flags:\s*(\d+)/.exec(await readFile(`/proc/self/fdinfo/${file.fd}`, 'utf8'))?.[1] ?? '';
        return sync(file);
      },
    });
    await syncPath(at('db'));
    expect(Number.parseInt(flags, 8) & 3).toBe(2);
    expect(synced?.fd).toBe(-1);
    expect(await readFile(at('db'), 'utf8')).toBe('x');
  });
});

describe('syncFolder', () => {
  it.each(['EIO', 'ENOSPC'])('a folder whose names are lost (%s) is not acknowledged', async (code) => {
    replaceSystem({ fsync: () => Promise.reject(systemError(code)) });
    await expect(syncFolder(folder)).rejects.toMatchObject({ code });
    await expect(writeAtomicFile(at('a.csv'), 'text')).rejects.toMatchObject({ exitCode: 9 });
  });

  it.each(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES', 'EPERM'])(
    'a file system that syncs no folders (%s) is good enough',
    async (code) => {
      replaceSystem({ fsync: () => Promise.reject(systemError(code)) });
      await writeAtomicFile(at('a.csv'), 'text');
      expect(await readFile(at('a.csv'), 'utf8')).toBe('text');
    },
  );

  it('Windows opens no folder', async () => {
    onWindows({
      openSync: () => {
        throw systemError('EISDIR');
      },
    });
    await writeAtomicFile(at('a.csv'), 'text');
    expect(await readdir(folder)).toEqual(['a.csv']);
  });

  it('leaves no descriptor open when it fails, nor does a file that was to be written', async () => {
    const opened: number[] = [];
    const closed: number[] = [];
    const { openSync, closeSync } = system;
    replaceSystem({
      openSync: (...args) => {
        const descriptor = openSync(...args);
        opened.push(descriptor);
        return descriptor;
      },
      closeSync: (descriptor) => {
        closed.push(descriptor);
        closeSync(descriptor);
      },
      fsync: () => Promise.reject(systemError('EIO')),
    });
    await expect(syncFolder(folder)).rejects.toThrow('EIO');
    expect(opened).toHaveLength(1);
    expect(closed).toEqual(opened);
    replaceSystem({ sync: () => Promise.reject(systemError('EIO')) });
    const file = await createPrivate(at('a'));
    await expect(writeDurably(file, 'text')).rejects.toThrow('EIO');
    expect(file.fd).toBe(-1);
  });
});

describe('removing', () => {
  it('of a folder begins again where somebody puts a file into it meanwhile', async () => {
    const asked: unknown[] = [];
    replaceSystem({ rm: async (...given) => void asked.push(given) });
    await removeTree(at('busy'));
    // Node does so itself, as often as it is told.
    expect(asked).toEqual([[at('busy'), { recursive: true, force: true, maxRetries: 3 }]]);
  });

  it('is done when there is nothing', async () => {
    await removeFile(at('none'));
    await removeTree(at('none'));
    await removeEmptyFolder(at('none'));
  });

  it('fails where the file stays', async () => {
    await expect(removeFile(folder)).rejects.toThrow();
    await writeFile(at('a'), '');
    await expect(removeEmptyFolder(folder)).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    await chmod(at('a'), 0o600);
    expect(await readdir(folder)).toEqual(['a']);
  });
});
