import { readFileSync } from 'node:fs';
import { appendFile, link, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import { system } from '../../../../src/filesystem/system.ts';
import { need, OWNER_ONLY } from '../../../support/capabilities.ts';
import { replaceSystem, systemError } from '../../../support/othersystem.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  path = join(folder, 'results.csv.journal');
});
afterEach(() => rm(folder, { recursive: true }));

const HEADER = '{"journal":"molar documents upload","version":2}\n';
const text = () => readFile(path, 'utf8');

describe('the journal of uploads', () => {
  it('has every line before its note is done, in the order of the notes, however many come at once', async () => {
    const { journal, close } = await openJournal(path);
    const keys = Array.from({ length: 50 }, (_, index) => `key ${index}`);
    const notes = keys.map(async (key, index) => {
      await (index % 2 === 0
        ? journal.note(key, { state: 'sending' })
        : journal.note(key, { state: 'stored', id: '7' }));
      expect(await text()).toContain(`"${key}"`);
    });
    await Promise.all(notes);
    await close();
    const lines = (await text()).trimEnd().split('\n').slice(1);
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(keys);
  });

  it('tells the next run what was sent, stored and refused', async () => {
    const first = await openJournal(path);
    expect(first.journal.isContinued).toBe(false);
    await first.journal.note('a', { state: 'sending' });
    await first.journal.note('b', { state: 'sending' });
    await first.journal.note('b', { state: 'stored', id: '7000000000114' });
    await first.journal.note('c', { state: 'sending' });
    await first.journal.note('c', { state: 'refused' });
    await first.close();
    const { journal, close } = await openJournal(path);
    expect(journal.isContinued).toBe(true);
    expect(['a', 'b', 'c', 'd'].map((key) => journal.entryOf(key))).toEqual([
      { state: 'sending' },
      { state: 'stored', id: '7000000000114' },
      { state: 'refused' },
      undefined,
    ]);
    await close();
    expect(await text()).toBe(
      `${HEADER}{"key":"a","state":"sending"}\n{"key":"b","state":"stored","id":"7000000000114"}\n{"key":"c","state":"refused"}\n`,
    );
    expect((await stat(path)).mode & 0o777).toBe(OWNER_ONLY.file);
  });

  it('reads what an older version left, and goes on in its own', async () => {
    await writeFile(
      path,
      '{"journal":"molar documents upload","version":1}\n{"key":"a","state":"sending","after":5}\n{"key":"b","state":"stored","id":"7"}\n',
    );
    const { journal, close } = await openJournal(path);
    expect(journal.isContinued).toBe(true);
    expect(['a', 'b'].map((key) => journal.entryOf(key))).toEqual([{ state: 'sending' }, { state: 'stored', id: '7' }]);
    await close();
    expect(await text()).toBe(`${HEADER}{"key":"a","state":"sending"}\n{"key":"b","state":"stored","id":"7"}\n`);
  });

  it('survives a crash at any byte: every whole line counts, and later runs go on', async () => {
    const entries = ['a', 'b', 'c'].map((key) => `{"key":"${key}","state":"sending"}\n`);
    const whole = HEADER + entries.join('');
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: HEADER.length, max: whole.length }), async (length) => {
        await writeFile(path, whole.slice(0, length));
        const { journal, close } = await openJournal(path);
        await journal.note('z', { state: 'stored', id: '1' });
        await close();
        // A line without its end is as good as one with it; less of it is nothing.
        const count = entries.filter((_, at) => length >= HEADER.length + entries.slice(0, at + 1).join('').length - 1);
        expect(await text()).toBe(`${HEADER}${count.join('')}{"key":"z","state":"stored","id":"1"}\n`);
      }),
      { numRuns: 60 },
    );
  });

  it('takes no notice of lines that it does not know', async () => {
    await writeFile(path, HEADER);
    await appendFile(
      path,
      '{"key":"a","state":"other"}\n[]\n{"key":5,"state":"refused"}\n{"key":"c","state":"stored","id":7}\n{"key":"d","id":"7"}\n' +
        'no JSON\n{"state":"sending"}\n{"key":"b","state":"refused"}\n',
    );
    const { journal, close } = await openJournal(path);
    expect(['a', '5', 'c', 'd', 'undefined'].map((key) => journal.entryOf(key))).toEqual(Array(5).fill(undefined));
    expect(journal.entryOf('b')).toEqual({ state: 'refused' });
    await close();
    expect(await text()).toBe(`${HEADER}{"key":"b","state":"refused"}\n`);
  });

  it.each([
    'my notes\n',
    '',
    '{"journal":"another"}\n',
    '{"journal":"another","version":2}\n',
    HEADER.replace('2', '3'),
    HEADER.replace('2', '0'),
  ])('never takes the place of another file: %j', async (content) => {
    await writeFile(path, content);
    await expect(openJournal(path)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('is not a journal of uploads'),
    });
    expect(await text()).toBe(content);
  });

  it('fails with exit code 9 where it cannot be written', async () => {
    await expect(openJournal(join(folder, 'missing', 'journal'))).rejects.toMatchObject({ exitCode: 9 });
  });

  it('goes on where nothing was sent yet', async () => {
    await (await openJournal(path)).close();
    const { journal, close } = await openJournal(path);
    expect(journal.isContinued).toBe(true);
    await close();
  });

  it('knows its own notes at once', async () => {
    const { journal, close } = await openJournal(path);
    const noted = journal.note('a', { state: 'sending' });
    expect(journal.entryOf('a')).toEqual({ state: 'sending' });
    await noted;
    await close();
  });

  it('is not continued where its file has another name, and stays as it was', async () => {
    await writeFile(path, HEADER);
    await link(path, join(folder, 'other'));
    await expect(openJournal(path)).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot continue ${path}: it is the file of another user.`,
    });
    expect(await text()).toBe(HEADER);
    expect((await readdir(folder)).sort()).toEqual(['other', 'results.csv.journal']);
  });

  it('takes no more notes once it is closed', async () => {
    const { journal, close } = await openJournal(path);
    await close();
    await expect(journal.note('a', { state: 'sending' })).rejects.toMatchObject({ exitCode: 9 });
  });

  it('goes into the file that was opened, whatever has its name by now', async (context) => {
    need(context, 'replaceOpen');
    const { journal, close } = await openJournal(path);
    await rename(path, join(folder, 'mine'));
    await writeFile(path, 'theirs');
    await journal.note('a', { state: 'sending' });
    await close();
    expect(await text()).toBe('theirs');
    expect(await readFile(join(folder, 'mine'), 'utf8')).toBe(`${HEADER}{"key":"a","state":"sending"}\n`);
  });
});

describe('what a power cut may leave of the journal', () => {
  /** Holds each sync of data until the test lets it go; `synced`: what the file held when each began. */
  function heldSyncs() {
    const synced: string[] = [];
    const held: { resolve: () => void; reject: (cause: Error) => void }[] = [];
    const waiting = new Map<number, () => void>();
    replaceSystem({
      datasync: () => {
        synced.push(
          readFileSync(path, 'utf8')
            .slice(HEADER.length)
            .replaceAll(/"key":|"state":|[{}"\n]/g, ' ')
            .trim(),
        );
        return new Promise<void>((resolve, reject) => {
          held.push({ resolve, reject });
          waiting.get(held.length)?.();
        });
      },
    });
    /** Resolves when so many syncs have begun, or when the notes are done that ought to wait for the last of them. */
    const begun = (count: number, ...notes: readonly Promise<void>[]) =>
      Promise.race([
        new Promise<void>((resolve) => (held.length >= count ? resolve() : waiting.set(count, resolve))),
        ...notes.map((note) => note.catch(() => undefined)),
      ]);
    return { synced, held, begun };
  }
  const immediate = () => new Promise((resolve) => setImmediate(resolve));

  it('has all of it before it takes its name', async () => {
    const steps: string[] = [];
    const { sync, rename: renamed } = system;
    await writeFile(path, `${HEADER}{"key":"a","state":"sending"}\n`);
    replaceSystem({
      sync: async (file) => {
        await sync(file);
        steps.push(`sync ${(await file.stat()).size}`);
      },
      rename: async (from, to) => {
        await renamed(from, to);
        steps.push('rename');
      },
    });
    const { close } = await openJournal(path);
    expect(steps).toEqual([`sync ${(await text()).length}`, 'rename']);
    await close();
  });

  it.each(['sync', 'rename'] as const)('is the journal of before where %s fails, and no part', async (step) => {
    const before = `${HEADER}{"key":"a","state":"sending"}\n{"key":"a","state":"refused"}\n`;
    await writeFile(path, before);
    replaceSystem({ [step]: () => Promise.reject(systemError('ENOSPC')) });
    await expect(openJournal(path)).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot write ${path}: no space left on the disk.`,
    });
    expect(await text()).toBe(before);
    expect(await readdir(folder)).toEqual(['results.csv.journal']);
  });

  it('has the line of a POST before its note is done, not before its sync', async () => {
    const { journal, close } = await openJournal(path);
    const { synced, held, begun } = heldSyncs();
    let isNoted = false;
    const noted = journal.note('a', { state: 'sending' }).then(() => {
      isNoted = true;
    });
    await begun(1, noted);
    await immediate();
    expect(synced).toEqual([expect.stringMatching(/a .*sending/)]);
    expect(isNoted).toBe(false);
    held[0]?.resolve();
    await noted;
    await close();
  });

  it('may lack the end of an upload, which is not synced, not even after one that was', async () => {
    const { journal, close } = await openJournal(path);
    const { synced, held, begun } = heldSyncs();
    await begun(1, journal.note('a', { state: 'stored', id: '7' }));
    await begun(1, journal.note('b', { state: 'refused' }));
    expect(synced).toEqual([]);
    const sending = journal.note('c', { state: 'sending' });
    await begun(1, sending);
    held[0]?.resolve();
    await sending;
    await journal.note('c', { state: 'stored', id: '8' });
    expect(synced).toHaveLength(1);
    await close();
  });

  it('has the lines of many POSTs with one sync, which the end of another does not take away', async () => {
    const { journal, close } = await openJournal(path);
    const { synced, held, begun } = heldSyncs();
    const first = journal.note('a', { state: 'sending' });
    await begun(1, first);
    const later = [
      journal.note('b', { state: 'sending' }),
      journal.note('c', { state: 'sending' }),
      journal.note('a', { state: 'stored', id: '7' }),
    ];
    held[0]?.resolve();
    await first;
    await begun(2, ...later);
    expect(synced[1]).toMatch(/b .*sending.*c .*sending.*a .*stored/);
    held[1]?.resolve();
    await Promise.all(later);
    expect(synced).toHaveLength(2);
    await close();
  });

  it('fails the notes of a line that it may lack with exit code 9, and takes later ones', async () => {
    const { journal, close } = await openJournal(path);
    const { held, begun } = heldSyncs();
    const noted = journal.note('a', { state: 'sending' });
    await begun(1, noted);
    held[0]?.reject(systemError('EIO'));
    await expect(noted).rejects.toMatchObject({
      exitCode: 9,
      message: `Cannot write ${path}: disk input/output error.`,
    });
    await journal.note('b', { state: 'refused' });
    await close();
    expect(await text()).toBe(`${HEADER}{"key":"a","state":"sending"}\n{"key":"b","state":"refused"}\n`);
  });
});
