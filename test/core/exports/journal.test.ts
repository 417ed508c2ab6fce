import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  differences,
  type ExportIdentity,
  type Journal,
  journalPath,
  readJournal,
  removeJournal,
  writeJournal,
} from '../../../src/core/exports/journal.ts';
import { emptyFolder } from './running.ts';

const IDENTITY: ExportIdentity = {
  url: 'https://api.example.com',
  organization: 'org-1',
  resource: 'patients',
  filter: null,
  fields: ['id', 'lastName'],
  format: 'csv',
  header: true,
  excel: false,
  escapeFormulas: true,
  limit: null,
  sinceLast: null,
};

const JOURNAL: Journal = {
  ...IDENTITY,
  version: 1,
  sentFilter: null,
  columns: 'hash',
  startedAt: '2026-03-02T12:00:00.000Z',
  readFrom: null,
  ...{ rows: 2, fetched: 3, pages: 1, firstId: '1', writtenId: '5', lastId: '5' },
  ...{ retries: 0, throttledMilliseconds: 0, resumed: 0 },
  ...{ bytes: 20, sha256: 'a'.repeat(64), warnings: [] },
};

async function part(): Promise<string> {
  return join(await emptyFolder(), 'patients.csv.part');
}

describe('a journal', () => {
  it('is written and read as it is, and nothing else is left beside it', async () => {
    const path = await part();
    const full = { ...JOURNAL, readFrom: '2026-03-02T11:00:00.000Z', sentFilter: 'id>5', lastId: '9'.repeat(31) };
    for (const journal of [JOURNAL, full]) {
      await writeJournal(path, journal);
      expect(await readJournal(path)).toEqual(journal);
      expect(await readFile(journalPath(path), 'utf8')).toBe(`${JSON.stringify(journal)}\n`);
    }
    expect(await readdir(join(path, '..'))).toEqual(['patients.csv.part.json']);
  });

  it('is removed with the one that was to replace it', async () => {
    const path = await part();
    await writeJournal(path, JOURNAL);
    await writeFile(`${journalPath(path)}.new`, 'half of it');
    await removeJournal(path);
    expect(await readdir(join(path, '..'))).toEqual([]);
    expect(await readJournal(path)).toBeUndefined();
    await removeJournal(path);
  });

  const TEXTS = ['url', 'organization', 'resource', 'format', 'columns', 'startedAt', 'sha256', 'lastId'];
  const NUMBERS = ['rows', 'fetched', 'pages', 'bytes', 'retries', 'throttledMilliseconds', 'resumed'];

  const OTHERS = ['filter', 'fields', 'header', 'excel', 'escapeFormulas', 'limit', 'sinceLast'];

  it.each<[string, Record<string, unknown>]>([
    ...[...TEXTS, ...NUMBERS, ...OTHERS, 'warnings'].map((name): [string, Record<string, unknown>] => [
      `without ${name}`,
      { [name]: undefined },
    ]),
    ...TEXTS.map((name): [string, Record<string, unknown>] => [`whose ${name} is a number`, { [name]: 5 }]),
    ...NUMBERS.flatMap((name): [string, Record<string, unknown>][] => [
      [`whose ${name} is negative`, { [name]: -1 }],
      [`whose ${name} is a text`, { [name]: '1' }],
      [`whose ${name} is no whole number`, { [name]: 0.5 }],
    ]),
    ...['sentFilter', 'readFrom', 'firstId', 'writtenId'].flatMap((name): [string, Record<string, unknown>][] => [
      [`without ${name}`, { [name]: undefined }],
      [`whose ${name} is a number`, { [name]: 5 }],
    ]),
    ['of another version', { version: 2 }],
    ['whose last id is none', { lastId: '5x' }],
    ['whose last id is negative', { lastId: '-5' }],
    ['whose last id is empty', { lastId: '' }],
    ['whose last id is longer than any', { lastId: '9'.repeat(32) }],
    ['that began at no time', { startedAt: 'yesterday' }],
    ['that was read from no time', { readFrom: 'yesterday' }],
    ['whose warnings are no list', { warnings: {} }],
    ['whose warnings are texts', { warnings: ['w'] }],
  ])('%s makes no sense', async (_name, own) => {
    const path = await part();
    await writeFile(journalPath(path), JSON.stringify({ ...JOURNAL, ...own }));
    expect(await readJournal(path)).toBeNull();
  });

  it.each(['', '[]', 'null', '5', '{"version":1'])('that is %j makes no sense', async (text) => {
    const path = await part();
    await writeFile(journalPath(path), text);
    expect(await readJournal(path)).toBeNull();
  });
});

describe('another export', () => {
  it.each<[Partial<ExportIdentity>, string]>([
    [{ url: 'https://other.example.com' }, 'the URL was https://api.example.com and is now https://other.example.com'],
    [{ organization: 'org-2' }, 'the organization was org-1 and is now org-2'],
    [{ resource: 'events' }, 'the resource was patients and is now events'],
    [{ filter: 'id>5' }, 'the filter was none and is now id>5'],
    [{ fields: null }, 'the selection of fields was id,lastName and is now none'],
    [{ fields: ['lastName', 'id'] }, 'the selection of fields was id,lastName and is now lastName,id'],
    [{ format: 'json' }, 'the format was csv and is now json'],
    [{ header: false }, 'the line of column names was on and is now off'],
    [{ excel: true }, '--excel was off and is now on'],
    [{ escapeFormulas: false }, 'the escaping of formulas was on and is now off'],
    [{ limit: 5 }, '--limit was none and is now 5'],
    [{ sinceLast: 'nightly' }, '--since-last was none and is now nightly'],
  ])('with %j is told in words', (own, text) => {
    expect(differences(IDENTITY, { ...IDENTITY, ...own })).toEqual([text]);
  });

  it('that is the same is none, also as its journal has it', () => {
    expect(differences(JOURNAL, { ...IDENTITY, fields: ['id', 'lastName'] })).toEqual([]);
  });

  it('is told with every difference', () => {
    expect(differences(IDENTITY, { ...IDENTITY, limit: 5, excel: true })).toHaveLength(2);
  });
});
