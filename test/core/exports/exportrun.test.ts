import { link, lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileFailure, localFailure } from '../../../src/core/failure.ts';
import { need, OWNER_ONLY } from '../../support/capabilities.ts';
import { answer, broken, problem, success } from '../transport/script.ts';
import { bytesOf, emptyFolder, exportOf, PLAIN, type Run, type Wanted } from './running.ts';

const EMPTY: Wanted = { ...PLAIN, rows: [] };
const failAt = (at: number, make: () => ReturnType<typeof answer>) => (number: number) =>
  number === at ? make() : undefined;
const cut = () => {
  throw broken(true);
};

describe('the file', () => {
  it.each<[string, Wanted, string]>([
    ['csv', EMPTY, 'id,lastName\n'],
    ['csv without header', { ...EMPTY, header: false }, ''],
    ['csv for Excel', { ...EMPTY, excel: true }, '\uFEFFid,lastName\r\n'],
    ['ndjson', { ...EMPTY, format: 'ndjson' }, ''],
    ['json', { ...EMPTY, format: 'json' }, '[]\n'],
  ])('of no records as %s', async (_name, wanted, bytes) => {
    const path = join(await emptyFolder(), 'out');
    const { receipt } = await exportOf(path, wanted, { pageSize: 2, receipt: true });
    expect(await readFile(path, 'utf8')).toBe(bytes);
    expect(receipt).toMatchObject({ rows: 0, firstId: null, lastId: null, complete: true });
  });

  it('is the one behind a symbolic link, which stays; its part is beside it', async (context) => {
    need(context, 'symlinks');
    const folder = await emptyFolder();
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data', 'real.csv'), 'before');
    const path = join(folder, 'out.csv');
    await symlink(join('data', 'real.csv'), path);
    const parts: string[] = [];
    await exportOf(path, PLAIN, {
      pageSize: 2,
      aroundWrite: async () => void parts.push(...(await readdir(join(folder, 'data')))),
    });
    expect(await readlink(path)).toBe(join('data', 'real.csv'));
    expect(await readFile(join(folder, 'data', 'real.csv'), 'utf8')).toBe(bytesOf(PLAIN));
    expect(parts).toContain('real.csv.part');
    expect(await readdir(join(folder, 'data'))).toEqual(['real.csv']);
  });

  it.for<[string, Run]>([
    ['a new run', { pageSize: 2 }],
    ['a resumed run', { pageSize: 2, resume: true }],
  ])('never comes through a link planted as its part: %s', async ([, run], context) => {
    need(context, 'symlinks');
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead: failAt(2, cut) })).rejects.toThrow();
    const planted = join(folder, 'elsewhere');
    await writeFile(planted, await readFile(`${path}.part`));
    await rm(`${path}.part`);
    await symlink(planted, `${path}.part`);
    await exportOf(path, PLAIN, run);
    expect(await readFile(planted, 'utf8')).toBe('id,lastName\n1,Name 1\n2,Name 2\n');
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('never is a second name of another file', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead: failAt(2, cut) })).rejects.toThrow();
    await link(`${path}.part`, join(folder, 'second'));
    const before = await readFile(join(folder, 'second'), 'utf8');
    await exportOf(path, PLAIN, { pageSize: 2, resume: true });
    expect(await readFile(join(folder, 'second'), 'utf8')).toBe(before);
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('is readable by its owner only while it is written, and so is the journal', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const modes: number[] = [];
    const aroundWrite = async () => {
      for (const name of ['.part', '.part.json']) modes.push((await stat(path + name)).mode & 0o777);
    };
    await exportOf(path, PLAIN, { pageSize: 2, aroundWrite });
    expect(new Set(modes)).toEqual(new Set([OWNER_ONLY.file]));
  });

  it.each<[string, (folder: string) => Promise<string>, RegExp]>([
    [
      'a folder that is missing',
      async (folder) => join(folder, 'none', 'out.csv'),
      /^Cannot write .*none[/\\]out\.csv: no such/,
    ],
    ['a folder in its place', async (folder) => folder, /^Cannot write .*: it is a folder\.$/],
  ])('cannot be written: %s', async (_name, pathIn, message) => {
    const path = await pathIn(await emptyFolder());
    const asked: number[] = [];
    const instead = (number: number) => void asked.push(number) as undefined;
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead })).rejects.toMatchObject({
      exitCode: 9,
      message: expect.stringMatching(message),
    });
    expect(asked).toEqual([]);
  });
});

describe('part and journal', () => {
  it('are there before the first request', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    let found: string[] | undefined;
    await exportOf(path, PLAIN, {
      pageSize: 2,
      more: {
        open: async () => {
          found = await readdir(join(path, '..'));
          return none();
        },
      },
    });
    expect(found?.toSorted()).toEqual(['out.csv.part', 'out.csv.part.json', 'out.csv.part.lock']);
  });

  it.each<[string, Run['instead'], number, readonly string[]]>([
    ['are gone when the server refuses the first page', failAt(1, () => problem(400, 'filter.key', 'x', 'No.')), 5, []],
    [
      'are gone when the token is not accepted',
      failAt(1, () => problem(401, 'auth.token_unknown', null, 'No.')),
      3,
      [],
    ],
    [
      'are gone when the token lacks the scope',
      failAt(1, () => problem(403, 'auth.scope_missing', null, 'No.')),
      3,
      [],
    ],
    ['stay when the connection breaks at once', failAt(1, cut), 8, ['out.csv.part', 'out.csv.part.json']],
    [
      'stay when the server fails at once',
      failAt(1, () => problem(503, 'server.unavailable', null, 'No.')),
      8,
      ['out.csv.part', 'out.csv.part.json'],
    ],
    [
      'stay when a later page is refused',
      failAt(2, () => problem(403, 'auth.scope_missing', null, 'No.')),
      3,
      ['out.csv.part', 'out.csv.part.json'],
    ],
    ['stay when ids step back', failAt(2, () => success([{ id: 1 }])), 8, ['out.csv.part', 'out.csv.part.json']],
    [
      'stay when a page is cut off',
      failAt(2, () => answer(200, '{"data":[{"id":3},{"i')),
      8,
      ['out.csv.part', 'out.csv.part.json'],
    ],
  ])('%s', async (_name, instead, exitCode, left) => {
    const folder = await emptyFolder();
    const run = { pageSize: 2, ...(instead && { instead }) };
    await expect(exportOf(join(folder, 'out.csv'), PLAIN, run)).rejects.toMatchObject({ exitCode });
    expect((await readdir(folder)).toSorted()).toEqual(left);
  });

  it('are gone after a refusal that an unfinished run without pages meets', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await expect(exportOf(path, PLAIN, { pageSize: 2, instead: failAt(1, cut) })).rejects.toThrow();
    const refused = failAt(1, () => problem(400, 'filter.key', 'x', 'No.'));
    await expect(exportOf(path, PLAIN, { pageSize: 2, resume: true, instead: refused })).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
  });

  it('stay when a signal comes, whose failure says how to go on', async () => {
    const path = join(await emptyFolder(), 'out.csv');
    const stopping = new AbortController();
    const run = exportOf(path, PLAIN, {
      pageSize: 2,
      signal: stopping.signal,
      instead: (number) => {
        if (number === 3) stopping.abort(localFailure('run.terminated', 'Stopped.'));
        return undefined;
      },
    });
    await expect(run).rejects.toMatchObject({
      exitCode: 143,
      hint: expect.stringMatching(/^Run it again with --resume/),
    });
    await exportOf(path, PLAIN, { pageSize: 2, resume: true });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('of a form that cannot be resumed never stay', async () => {
    const folder = await emptyFolder();
    const run = { pageSize: 2, instead: failAt(2, cut), more: { resumable: false } };
    const failure = await exportOf(join(folder, 'out.xlsx'), PLAIN, run).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ exitCode: 8, hint: expect.not.stringContaining('--resume') });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a full disk', () => {
  it.each([1, 2, 3, 4])('at write %i leaves the file alone; --resume gives the same bytes', async (at) => {
    const path = join(await emptyFolder(), 'out.csv');
    await writeFile(path, 'before');
    let writes = 0;
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const run = exportOf(path, PLAIN, {
      pageSize: 2,
      more: {
        pack: (inner) => ({
          ...inner,
          write: async (text) => {
            if (++writes !== at) return inner.write(text);
            // A disk takes what still fits.
            await inner.write(text.slice(0, 3));
            throw fileFailure(`write ${path}`, full);
          },
        }),
      },
    });
    await expect(run).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot write ${path}: no space left on the disk.`,
      hint: expect.stringContaining('--resume'),
    });
    expect(await readFile(path, 'utf8')).toBe('before');
    await exportOf(path, PLAIN, { pageSize: 3, resume: true });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });
});

describe('two runs at once', () => {
  it('of one file: the second is refused and harms nothing', async (context) => {
    need(context, 'symlinks');
    const folder = await emptyFolder();
    const path = join(folder, 'out.csv');
    await symlink('out.csv', join(folder, 'same.csv'));
    const second: unknown[] = [];
    await exportOf(path, PLAIN, {
      pageSize: 2,
      more: {
        onRows: () => undefined,
        open: async () => {
          second.push(
            await exportOf(join(folder, 'same.csv'), PLAIN, { pageSize: 2 }).catch((cause: unknown) => cause),
          );
          return none();
        },
      },
    });
    expect(second).toMatchObject([
      { exitCode: 9, message: expect.stringMatching(/same\.csv is in use by process 1 since /) },
    ]);
    expect((await readdir(folder)).toSorted()).toEqual(['out.csv', 'same.csv']);
  });
});

async function* none(): AsyncGenerator<never> {}
