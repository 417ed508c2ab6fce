import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatsWhere } from '../../../src/core/output/formats.ts';
import { need } from '../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';
import { broken } from '../transport/script.ts';
import { bytesOf, emptyFolder, exportOf, PLAIN, type Wanted } from './running.ts';

const wanted: fc.Arbitrary<Wanted> = fc.record({
  rows: fc
    .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })
    .map((ids) => ids.toSorted((a, b) => a - b).map((id) => ({ id, lastName: `Ñame ${id}` }))),
  format: fc.constantFrom(...formatsWhere(({ isResumable }) => isResumable)),
  header: fc.boolean(),
  excel: fc.boolean(),
  limit: fc.option(fc.integer({ min: 1, max: 25 })),
  byNumber: fc.boolean(),
});
const pageSize = fc.integer({ min: 1, max: 6 });
/** Journals at every page, at some, or none but the first. */
const tick = fc.constantFrom(0, 300, 1000);

/** What stands on the disk at one moment: the part and its journal. */
interface Image {
  readonly part: Buffer;
  readonly journal: Buffer | undefined;
}

async function imageOf(path: string): Promise<Image | undefined> {
  const part = await readFile(`${path}.part`).catch(() => undefined);
  const journal = await readFile(`${path}.part.json`).catch(() => undefined);
  return part === undefined ? undefined : { part, journal };
}

describe('an export that was killed', () => {
  it('has the same bytes after --resume, whenever that was and whatever stands behind what counts', async () => {
    const folder = await emptyFolder();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        ...([wanted, pageSize, pageSize, tick, fc.nat(), fc.string({ maxLength: 9 }), fc.nat()] as const),
        async (export_, size, sizeAfter, ticks, moment, behind, cut) => {
          const path = join(folder, `${++number}`);
          const images: Image[] = [];
          const note = async () => {
            const image = await imageOf(path);
            if (image !== undefined) images.push(image);
          };
          await exportOf(path, export_, { pageSize: size, tick: ticks, aroundWrite: note });
          expect(await readFile(path, 'utf8')).toBe(bytesOf(export_));
          const { part, journal } = images[moment % images.length] as Image;
          const counts = journal === undefined ? 0 : Number(JSON.parse(journal.toString()).bytes);
          const torn = part.subarray(0, counts + (cut % (part.length - counts + 1)));
          const again = join(folder, `${number}-again`);
          await writeFile(`${again}.part`, Buffer.concat([torn, Buffer.from(behind)]));
          if (journal !== undefined) await writeFile(`${again}.part.json`, journal);
          const { receipt } = await exportOf(again, export_, { pageSize: sizeAfter, resume: true });
          expect(await readFile(again, 'utf8')).toBe(bytesOf(export_));
          expect(receipt.rows).toBe(Math.min(export_.rows.length, export_.limit ?? 1000));
          expect((await readdir(folder)).filter((name) => name.startsWith(`${number}-again.`))).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('an export whose page fails', () => {
  it('leaves the file alone and has the same bytes after any number of --resume', async () => {
    const folder = await emptyFolder();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        ...([wanted, fc.array(fc.tuple(pageSize, fc.integer({ min: 1, max: 5 })), { maxLength: 4 })] as const),
        ...([tick, fc.constantFrom(1, 3)] as const),
        async (export_, runs, ticks, parallel) => {
          const path = join(folder, `${++number}`);
          await writeFile(path, 'before');
          let resume = false;
          let done = false;
          for (const [size, failing] of runs) {
            const instead = (request: number) => {
              if (request === failing) throw broken(true);
              return undefined;
            };
            done = await exportOf(path, export_, { pageSize: size, parallel, tick: ticks, resume, instead }).then(
              () => true,
              () => false,
            );
            if (done) break;
            expect(await readFile(path, 'utf8')).toBe('before');
            resume = true;
          }
          if (!done) await exportOf(path, export_, { pageSize: 4, parallel, resume });
          expect(await readFile(path, 'utf8')).toBe(bytesOf(export_));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is gone on with behind the last whole page, not from the start', async () => {
    const path = join(await emptyFolder(), 'patients.csv');
    const fails = exportOf(path, PLAIN, {
      pageSize: 2,
      instead: (number) => {
        if (number === 3) throw broken(true);
        return undefined;
      },
    });
    await expect(fails).rejects.toMatchObject({
      exitCode: 8,
      hint: expect.stringContaining('Run it again with --resume to continue after 4 records.'),
    });
    expect(JSON.parse(await readFile(`${path}.part.json`, 'utf8'))).toMatchObject({
      filter: 'lastName~=N',
      fields: ['id', 'lastName'],
      ...{ rows: 4, pages: 2, lastId: '5', firstId: '1', resumed: 0 },
    });
    const asked: string[] = [];
    const resumed: number[] = [];
    const { receipt } = await exportOf(path, PLAIN, {
      pageSize: 2,
      resume: true,
      instead: (_number, { url }) => {
        asked.push(new URL(url).searchParams.get('lastId') ?? '');
        return undefined;
      },
      more: { onResume: (rows) => resumed.push(rows) },
    });
    expect(asked).toEqual(['5', '8']);
    expect(resumed).toEqual([4]);
    expect(receipt).toMatchObject({ rows: 5, pages: 3, resumed: 1, firstId: 1, lastId: 8 });
  });
});

describe('--resume', () => {
  it('starts over where no earlier run left anything', async () => {
    const path = join(await emptyFolder(), 'patients.csv');
    await exportOf(path, PLAIN, { pageSize: 2, resume: true });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('after a kill between the renaming of the part and the removal of its journal begins anew', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'patients.csv');
    let journal = '';
    const aroundWrite = async () => {
      journal = await readFile(`${path}.part.json`, 'utf8');
    };
    await exportOf(path, PLAIN, { pageSize: 2, tick: 1000, aroundWrite });
    await writeFile(`${path}.part.json`, journal);
    await exportOf(path, PLAIN, { pageSize: 2, resume: true });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
    expect(await readdir(folder)).toEqual(['patients.csv']);
  });

  it('without it, a run starts over whatever is left', async () => {
    const path = join(await emptyFolder(), 'patients.csv');
    await writeFile(`${path}.part`, 'left');
    await writeFile(`${path}.part.json`, 'left');
    await exportOf(path, PLAIN, { pageSize: 2 });
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
    expect(await readdir(join(path, '..'))).toEqual(['patients.csv']);
  });

  it.each<[string, (path: string) => Promise<unknown>, string]>([
    [
      'a journal that is cut off',
      (path) => writeFile(`${path}.part.json`, '{"version":1,'),
      'its journal cannot be read',
    ],
    ['an empty journal', (path) => writeFile(`${path}.part.json`, ''), 'its journal cannot be read'],
    [
      'a part with another byte',
      (path) => writeFile(`${path}.part`, 'xd,lastName\n1,Name 1\n2,Name 2\n'),
      'its part is not as it was left',
    ],
    ['a part that is too short', (path) => writeFile(`${path}.part`, 'id,last'), 'its part is not as it was left'],
    [
      'a part that has its hash and is too short',
      (path) => replaceIn(`${path}.part.json`, /"bytes":\d+/, '"bytes":4096'),
      'its part is not as it was left',
    ],
  ])('starts over and says so after %s', async (_name, spoil, reason) => {
    const path = join(await emptyFolder(), 'patients.csv');
    await leaveUnfinished(path);
    await spoil(path);
    const reasons: string[] = [];
    await exportOf(path, PLAIN, { pageSize: 2, resume: true, more: { onRestart: (text) => reasons.push(text) } });
    expect(reasons).toEqual([reason]);
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it.each([
    ['its bookmark has changed since', { filter: 'lastName~=N,lastModified>=2026' }],
    ['its columns have changed with molar', { columns: 'id,middleName,lastName' }],
  ])('starts over when what is to be asked or written is another thing: %s', async (reason, own) => {
    const path = join(await emptyFolder(), 'patients.csv');
    await leaveUnfinished(path);
    const reasons: string[] = [];
    const more = { ...own, onRestart: (text: string) => void reasons.push(text) };
    await exportOf(path, PLAIN, { pageSize: 2, resume: true, more });
    expect(reasons).toEqual([reason]);
    expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
  });

  it('is refused, naming every difference, for another export, and leaves what is there', async () => {
    const folder = await emptyFolder();
    const path = join(folder, 'patients.csv');
    await leaveUnfinished(path);
    const before = await readFile(`${path}.part.json`, 'utf8');
    const other = exportOf(path, { ...PLAIN, header: false, limit: 3 }, { pageSize: 2, resume: true });
    await expect(other).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(
        /is of another export: the line of column names was on and is now off; --limit was none and is now 3\.$/,
      ),
      items: [{ source: '--resume' }],
      hint: expect.stringContaining('without --resume'),
    });
    expect(await readFile(`${path}.part.json`, 'utf8')).toBe(before);
    expect((await readdir(folder)).toSorted()).toEqual(['patients.csv.part', 'patients.csv.part.json']);
  });

  it('closes a part that was opened to others, and starts over where it cannot', async (context) => {
    need(context, 'modes');
    const path = join(await emptyFolder(), 'patients.csv');
    const reasons: string[] = [];
    const resume = () =>
      exportOf(path, PLAIN, {
        ...{ pageSize: 2, resume: true },
        more: { onRestart: (text) => reasons.push(text) },
      });
    for (const refused of [false, true]) {
      await leaveUnfinished(path);
      await chmod(`${path}.part`, 0o644);
      if (refused) replaceSystem({ fchmod: () => Promise.reject(systemError('EPERM')) });
      await resume();
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readFile(path, 'utf8')).toBe(bytesOf(PLAIN));
      expect(reasons).toEqual(refused ? ['its part is not as it was left'] : []);
    }
  });

  it('makes a folder in the place of the part an error of the disk', async () => {
    const path = join(await emptyFolder(), 'patients.csv');
    await leaveUnfinished(path);
    await rm(`${path}.part`);
    await mkdir(`${path}.part`);
    await expect(exportOf(path, PLAIN, { pageSize: 2, resume: true })).rejects.toMatchObject({ exitCode: 9 });
  });
});

async function replaceIn(path: string, what: RegExp, by: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(what, by));
}

/** An export of PLAIN that ended after one page of two. */
async function leaveUnfinished(path: string): Promise<void> {
  const failing = exportOf(path, PLAIN, {
    pageSize: 2,
    instead: (number) => {
      if (number === 2) throw broken(true);
      return undefined;
    },
  });
  await expect(failing).rejects.toMatchObject({ exitCode: 8 });
}
