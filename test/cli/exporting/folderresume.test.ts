import { mkdir, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer } from '../../core/transport/script.ts';
import { replaceSystem, systemError } from '../../support/othersystem.ts';
import { BOTH, nightly, refused } from './nightly.ts';

const LINE = [...BOTH, '--since-last', 'nightly'];
const STATE = '.molar-export.json';

const at = (time: string) => ({ clock: { now: () => Date.parse(`2026-03-${time}Z`), sleep: async () => undefined } });

/** A run whose second file was refused; the server refuses nothing any more. */
async function halfDone(line: readonly string[]) {
  const place = await nightly();
  place.practice.instead = refused('transactions');
  expect((await place.run(line)).exitCode).toBe(6);
  place.practice.instead = () => undefined;
  return { ...place, before: place.practice.count('patients') };
}

describe('a file that an interrupted run completed', () => {
  it('is exported again when it is gone', async () => {
    const { run, folder, practice, read, before } = await halfDone(BOTH);
    await rm(join(folder, 'patients.csv'));
    expect((await run([...BOTH, '--resume'])).exitCode).toBe(0);
    expect(practice.count('patients')).toBeGreaterThan(before);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
  });

  it('is exported again when it is to be another one', async () => {
    const { run, read } = await halfDone(BOTH);
    const line = ['patients', 'transactions', '--fields', 'patients:lastModified', '--fields', 'transactions:id'];
    expect((await run([...line, '--resume'])).exitCode).toBe(0);
    expect((await read('patients.csv')).split('\n')[0]).toBe('lastModified');
  });

  it('is exported again when its bookmark was reset meanwhile', async () => {
    const { run, practice, bookmarkFolder, read } = await nightly();
    await run(LINE);
    practice.instead = refused('transactions');
    await run(LINE);
    practice.instead = () => undefined;
    const before = practice.count('patients');
    await rm(bookmarkFolder, { recursive: true });
    expect((await run([...LINE, '--resume'])).exitCode).toBe(0);
    expect(practice.count('patients')).toBeGreaterThan(before);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
  });

  it('is not, when the run ended while it moved its bookmarks', async () => {
    const { run, practice, names, bookmarks, bookmarkFolder } = await nightly();
    replaceSystem({
      unlink: async (path) => {
        if (String(path).endsWith(STATE)) throw systemError('EIO');
        await unlink(path);
      },
    });
    expect((await run(LINE)).exitCode).toBe(9);
    replaceSystem({ unlink });
    const left = await bookmarks();
    expect(left).toHaveLength(2);
    await rm(join(bookmarkFolder, left[0] ?? ''));
    const before = practice.asked.length;
    expect((await run([...LINE, '--resume'])).exitCode).toBe(0);
    expect(practice.asked.length).toBe(before);
    expect(await bookmarks()).toEqual(left);
    expect((await names()).filter((name) => /changes|molar/.test(name))).toEqual([]);
  });
});

describe('a run that is resumed', () => {
  it('keeps the time in the names of its changes, whenever it was interrupted', async () => {
    const { run, practice, names } = await nightly();
    await run(LINE, at('02T12:00:00'));
    practice.rows.patients = [{ id: 1, lastModified: '2026-03-03T01:00:00.000Z' }];
    practice.instead = refused('patients', 503);
    const line = [...LINE, '--max-retries', '0'];
    await run(line, at('03T05:00:00'));
    practice.instead = () => undefined;
    await run([...line, '--resume'], at('04T05:00:00'));
    expect((await names()).filter((name) => /changes.*csv$/.test(name))).toEqual([
      'patients.changes.2026-03-03T05-00-00Z.csv',
    ]);
  });

  it('has its state before the first request', async () => {
    const { run, practice, folder } = await nightly();
    const seen: Promise<string[]>[] = [];
    practice.instead = () => void seen.push(readdir(folder)) as undefined;
    await run(BOTH);
    expect(await seen[0]).toContain(STATE);
  });

  it('of another line starts over without --resume', async () => {
    const { run, practice, read } = await nightly();
    practice.instead = refused('patients', 503);
    await run(['patients', '--max-retries', '0']);
    practice.instead = () => undefined;
    expect((await run(['patients', '--fields', 'patients:id'])).exitCode).toBe(0);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
  });

  it('does what it can where the name of one file is taken by a folder', async () => {
    const { run, folder, summary } = await nightly();
    await mkdir(join(folder, 'transactions.csv'), { recursive: true });
    expect((await run([...BOTH, '--resume'])).exitCode).toBe(6);
    expect(await summary()).toMatchObject({ files: [{ status: 'complete' }, { status: 'failed' }] });
  });
});

describe('a disk that takes no more', () => {
  const fullFor = (name: string) =>
    replaceSystem({
      rename: async (from, to) => {
        if (String(to).endsWith(`/${name}`)) throw systemError('ENOSPC');
        await rename(from, to);
      },
    });

  it('ends the run: the next file would fail as well', async () => {
    const { run, summary } = await nightly();
    fullFor('patients.csv');
    expect((await run(BOTH)).exitCode).toBe(9);
    expect((await summary()).files.map(({ status }: { status: string }) => status)).toEqual(['failed', 'not tried']);
  });

  it('also for the state of the run, and the summary says so', async () => {
    const { run, summary } = await nightly();
    fullFor(STATE);
    expect((await run(BOTH)).exitCode).toBe(9);
    expect(await summary()).toMatchObject({ complete: false, exitCode: 9, reason: 'local.file' });
  });
});

describe('what a run says', () => {
  it('is what it could not prove, by file, and nothing of it with --json', async () => {
    const { run, practice } = await nightly();
    practice.rows.missedappointments = [{ id: 1, start: '2026-01-01T08:00:00Z' }];
    // What has no date is found without a filter only, and the service takes too long for that.
    practice.instead = (_, { url }) => (url.includes('filter=') ? undefined : answer(408, ''));
    const line = ['missedappointments', '--fields', 'missedappointments:id', '--max-retries', '0'];
    const { exitCode, stderr } = await run(line);
    expect(stderr).toMatch(/^missedappointments\.csv: Could not prove that these are all missed appointments: /m);
    expect(exitCode).toBe(0);
    expect((await run([...line, '--json'])).stderr).toMatch(/^Exported 1 file to [^\n]*\n$/);
  });

  it('is nothing of replaced files after a run without bookmarks', async () => {
    const { run, folder } = await nightly();
    await run(LINE, at('02T12:00:00'));
    await writeFile(join(folder, 'summary.json'), JSON.stringify({ files: [{ incremental: false }] }));
    expect((await run(LINE, at('03T05:00:00'))).stderr).not.toContain('may have replaced');
  });
});

it('a bookmark is where the server was when reading began, whatever our clock says', async () => {
  const { run, practice } = await nightly();
  // Its server says noon.
  await run(LINE, at('02T15:00:00'));
  await run(LINE, at('03T05:00:00'));
  expect(new Map(practice.asked).get('patients')?.filter).toBe('lastModified>=2026-03-02T11:55:00.000Z');
});
