import { readlinkSync } from 'node:fs';
import { appendFile, type FileHandle, open, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeJournal } from '../../../src/core/exports/journal.ts';
import { system } from '../../../src/filesystem/system.ts';
import { need } from '../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';
import { broken } from '../transport/script.ts';
import { bytesOf, emptyFolder, exportOf, PLAIN, type Run, type Wanted } from './running.ts';

const FULL = () => Promise.reject(systemError('ENOSPC'));

/** How a file takes bytes, as all open files do. */
interface Writing {
  write(this: Writing, data: Uint8Array, at: number, length: number, to: number): Promise<{ bytesWritten: number }>;
}

/** Breaks the connection at one request. */
const cutAt =
  (at: number): NonNullable<Run['instead']> =>
  (number) => {
    if (number === at) throw broken(true);
    return undefined;
  };

afterEach(() => vi.restoreAllMocks());

describe('the disk', () => {
  it('has the part before the journal that counts on it, and the file before the journal is gone', async (context) => {
    need(context, 'proc');
    const folder = await realpath(await emptyFolder());
    const path = join(folder, 'out.csv');
    const seen: string[] = [];
    const nameOf = ({ fd }: FileHandle) => readlinkSync(`/proc/self/fd/${fd}`).slice(folder.length + 1);
    const note = async (what: string, file: FileHandle) => {
      seen.push(`${what} ${nameOf(file)}, ${(await file.stat()).size > 0 ? 'written' : 'empty'}`);
    };
    const { sync, datasync, rename, unlink } = system;
    replaceSystem({
      sync: async (file) => {
        await note('sync', file);
        await sync(file);
      },
      datasync: async (file) => {
        await note('datasync', file);
        await datasync(file);
      },
      rename: async (from, to) => {
        seen.push(`rename to ${String(to).slice(folder.length + 1)}`);
        await rename(from, to);
      },
      unlink: async (name) => {
        await unlink(name);
        if (String(name).endsWith('.json')) seen.push(`removed ${String(name).slice(folder.length + 1)}`);
      },
    });
    // The clock passes a second with every look at it: a journal at the start, and one after each of three pages.
    await exportOf(path, PLAIN, { pageSize: 2, tick: 1000 });
    const journal = ['sync out.csv.part.json.new, written', 'rename to out.csv.part.json'];
    const page = ['datasync out.csv.part, written', ...journal];
    expect(seen).toEqual([
      ...['datasync out.csv.part, empty', ...journal],
      ...[...page, ...page, ...page],
      ...['sync out.csv.part, written', 'rename to out.csv', 'removed out.csv.part.json'],
    ]);
  });

  it('may take less than it is given at once', async () => {
    const folder = await emptyFolder();
    const probe = await open(join(folder, 'probe'), 'w');
    await probe.close();
    const methods: Writing = Object.getPrototypeOf(probe);
    const { write } = methods;
    const few = vi.spyOn(methods, 'write').mockImplementation(function (this: Writing, data, at, length, to) {
      expect(at + length).toBe(data.byteLength);
      return write.call(this, data, at, Math.min(length, 3), to);
    });
    await exportOf(join(folder, 'out.csv'), PLAIN, { pageSize: 2 });
    expect(few.mock.calls.length).toBeGreaterThan(bytesOf(PLAIN).length / 3 - 1);
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('that fails while an interrupted run leaves its journal hides neither why it ended nor the journal before', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    let before = '';
    const run = exportOf(path, PLAIN, {
      pageSize: 2,
      instead: (number, request) => {
        if (number < 3) return undefined;
        replaceSystem({ datasync: FULL });
        return cutAt(3)(number, request);
      },
      aroundWrite: async () => {
        before = await readFile(`${path}.part.json`, 'utf8');
      },
    });
    await expect(run).rejects.toMatchObject({ exitCode: 8, hint: expect.stringContaining('--resume') });
    expect(await readFile(`${path}.part.json`, 'utf8')).toBe(before);
  });

  it('that does not take a new journal keeps the old one, and nothing else', async () => {
    const part = join(await emptyFolder(), 'out.csv.part');
    await writeFile(`${part}.json`, 'before');
    replaceSystem({ rename: FULL });
    await expect(writeJournal(part, {} as never)).rejects.toMatchObject({ exitCode: 9 });
    expect(await readFile(`${part}.json`, 'utf8')).toBe('before');
    expect(await readdir(join(part, '..'))).toEqual(['out.csv.part.json']);
  });
});

describe('a part', () => {
  it('of which nothing counts may be gone: the run starts over, and there is nothing to say', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead: cutAt(1) })).rejects.toThrow();
    await rm(`${path}.part`);
    const reasons: string[] = [];
    await exportOf(path, PLAIN, { pageSize: 2, resume: true, more: { onRestart: (text) => reasons.push(text) } });
    expect(reasons).toEqual([]);
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('larger than what is read at once is resumed, without what stands behind what counts', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const rows = ['a', 'b', 'c', 'd'].map((letter, at) => ({ id: at + 1, lastName: letter.repeat(200_000) }));
    const large: Wanted = { ...PLAIN, rows };
    await expect(exportOf(path, large, { pageSize: 1, instead: cutAt(4) })).rejects.toThrow();
    await appendFile(`${path}.part`, 'x'.repeat(300_000));
    const resumed: number[] = [];
    await exportOf(path, large, { pageSize: 1, resume: true, more: { onResume: (count) => resumed.push(count) } });
    expect(resumed).toEqual([3]);
    expect((await readFile(path, 'utf8')) === bytesOf(large)).toBe(true);
  });

  it('of a run that cannot be resumed has no journal of another one', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead: cutAt(2) })).rejects.toThrow();
    let found: string[] = [];
    const aroundWrite = async () => {
      found = await readdir(folder);
    };
    await exportOf(path, PLAIN, { pageSize: 2, aroundWrite, more: { resumable: false } });
    expect(found.toSorted()).toEqual(['out.csv.part', 'out.csv.part.lock']);
  });

  it.for<[string, (path: string) => Promise<unknown>]>([
    ['is published', (path) => exportOf(path, PLAIN, { pageSize: 2 })],
    ['is left', (path) => exportOf(path, PLAIN, { pageSize: 2, instead: cutAt(2) }).catch(() => undefined)],
    ['is removed', (path) => exportOf(path, PLAIN, { pageSize: 2, more: { kind: 'changes', isNew: () => false } })],
    [
      'is not as it was left',
      async (path) => {
        await exportOf(path, PLAIN, { pageSize: 2, instead: cutAt(2) }).catch(() => undefined);
        await writeFile(`${path}.part`, 'short');
        await exportOf(path, PLAIN, { pageSize: 2, resume: true });
      },
    ],
  ])('is closed once it %s', async ([, run], context) => {
    need(context, 'proc');
    const folder = await realpath(await emptyFolder());
    await run(join(folder, 'out.csv'));
    const open_ = (await readdir('/proc/self/fd')).map(targetOf).filter((target) => target.startsWith(folder));
    expect(open_).toEqual([]);
  });
});

/** What a descriptor is open on; empty for one that is closed by now. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}
