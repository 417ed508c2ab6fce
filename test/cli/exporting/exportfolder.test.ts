import { mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { formatsWhere } from '../../../src/core/output/formats.ts';
import { BOTH, nightly, refused } from './nightly.ts';

const RESUMABLE = formatsWhere(({ isResumable }) => isResumable).join(', ');

describe('export to a folder', () => {
  it('writes a file each with its receipt, one summary, and one line to standard error', async () => {
    const { run, read, names, summary } = await nightly();
    const ran = await run(BOTH);
    expect(ran).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Exported 2 files to .*nightly: 5 rows, 0 s\.\n$/),
    });
    expect(await names()).toEqual([
      'patients.csv',
      'patients.csv.receipt.json',
      'summary.json',
      'transactions.csv',
      'transactions.csv.receipt.json',
    ]);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
    expect(await summary()).toEqual({
      complete: true,
      exitCode: 0,
      reason: 'complete',
      url: 'https://api.example.com',
      organization: 'org-1',
      sinceLast: null,
      startedAt: '2026-03-02T12:00:00.000Z',
      endedAt: '2026-03-02T12:00:00.000Z',
      durationSeconds: 0,
      totals: { files: 2, rows: 5, pages: 2, retries: 0, throttledSeconds: 0 },
      files: [
        expect.objectContaining({ file: 'patients.csv', content: 'records', status: 'complete', rows: 3, error: null }),
        expect.objectContaining({ file: 'transactions.csv', rows: 2, filter: 'transactionDate>=0001-01-01' }),
      ],
    });
  });

  it('warns once of a value that only quotes can hold', async () => {
    const { run } = await nightly();
    const ran = await run([...BOTH, '--full-ids', '--filter', 'patients:lastName=="Lee, Jr"']);
    expect(ran.stderr).toMatch(/^Warning: a value of lastName== can only [^\n]*\nExported 4 files [^\n]*\n$/);
  });

  it('is silent with --quiet, and prints the summary with --json', async () => {
    const { run, read } = await nightly();
    expect(await run([...BOTH, '--quiet'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const { stdout, stderr } = await run([...BOTH, '--json']);
    expect(stdout).toBe(await read('summary.json'));
    expect(stderr).toMatch(/^Exported 2 files to [^\n]*\n$/);
  });

  it('says in summary.json that it runs, from before the first request', async () => {
    const { run, practice, summary } = await nightly();
    await run(BOTH);
    const seen: Promise<unknown>[] = [];
    practice.instead = () => {
      seen.push(summary());
      return undefined;
    };
    await run(BOTH);
    expect(await seen[0]).toMatchObject({ complete: false, exitCode: null, reason: 'running', endedAt: null });
  });

  it('also writes the ids that exist with --full-ids, increment or not', async () => {
    const { run, read, summary } = await nightly();
    const line = ['patients', '--since-last', 'n', '--full-ids', '--fields', 'patients:id'];
    await run(line);
    await run(line);
    expect([await read('patients.csv'), await read('patients.ids.csv')]).toEqual(['id\n1\n2\n3\n', 'id\n1\n2\n3\n']);
    expect((await summary()).files).toMatchObject([
      { file: null, kind: 'changes', content: 'records', incremental: true, rows: 0 },
      { file: 'patients.ids.csv', kind: 'whole', content: 'ids', incremental: false, rows: 3 },
    ]);
  });

  it('takes dates in the zone of --timezone', async () => {
    const { run, summary } = await nightly();
    const filters = [
      '--filter',
      'patients:lastModified>=2026-01-01',
      '--filter',
      'transactions:transactionDate>=2026-01-01',
    ];
    expect((await run([...BOTH, ...filters, '--timezone', 'Asia/Tokyo'])).exitCode).toBe(0);
    expect((await summary()).files).toMatchObject([
      { filter: 'lastModified>=2025-12-31T15:00:00Z' },
      { filter: 'transactionDate>=2026-01-01' },
    ]);
  });

  it('takes filters and fields by resource', async () => {
    const { run, practice } = await nightly();
    await run(['patients', 'transactions', '--filter', 'patients:lastName~=S', '--fields', 'transactions:id,amount']);
    const asked = new Map(practice.asked);
    expect(asked.get('patients')).toMatchObject({ filter: 'lastName~=S,lastModified>=0001-01-01T00:00:00Z' });
    expect(asked.get('transactions')).toMatchObject({ responseFields: 'id,type,amount' });
  });

  it.each<[readonly string[], string]>([
    [['patient'], 'patient cannot be exported. Did you mean patients?'],
    [['patients', '--filter', 'lastName~=S'], '--filter must begin with one of the resources exported and a colon'],
    [['patients', '--fields', 'events:id'], '--fields must begin with one of the resources exported and a colon'],
    [['patients', '--filter', 'patients:nope==1'], 'nope'],
    [['patients', '--max-duration', '0'], '--max-duration must be a time such as 90m'],
    [['patients', '--max-duration', '5d'], '--max-duration must be a time such as 90m'],
    [
      ['patients', '--format', 'xlsx', '--resume'],
      `Output as xlsx cannot be resumed; these formats can: ${RESUMABLE}.`,
    ],
    [['patients', '--since-last', '../x'], 'The name of a bookmark is'],
    [['scheduletemplatereasons'], 'location'],
  ])('is refused before anything is sent: %j', async (argv, message) => {
    const { run, practice } = await nightly();
    const { exitCode, stderr } = await run(argv);
    expect([exitCode, practice.asked]).toEqual([2, []]);
    expect(stderr).toContain(message);
  });
});

describe('bookmarks of a folder', () => {
  const line = [...BOTH, '--since-last', 'nightly'];

  it('move when all files are there, and not before', async () => {
    const { run, practice, bookmarks, read } = await nightly();
    practice.instead = refused('transactions');
    expect((await run(line)).exitCode).toBe(6);
    expect(await bookmarks()).toEqual([]);
    practice.instead = () => undefined;
    expect((await run(line)).exitCode).toBe(0);
    expect(await bookmarks()).toHaveLength(2);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
    const ran = await run(line);
    expect(ran.stderr).toMatch(
      /^No changes of patients, transactions\. Complete files are unchanged\.\nExported 0 files /,
    );
    expect([await read('patients.csv'), await read('transactions.csv')]).toEqual(['id\n1\n2\n3\n', 'id\n7\n8\n']);
    expect(new Map(practice.asked).get('transactions')?.filter).toBe(
      'lastModified>=2026-03-02T11:55:00.000Z,transactionDate>=0001-01-01',
    );
  });

  it('move for files that the resumed run had finished, too', async () => {
    const { run, practice, bookmarks } = await nightly();
    practice.instead = refused('transactions');
    await run(line);
    practice.instead = () => undefined;
    expect((await run([...line, '--resume'])).exitCode).toBe(0);
    expect(await bookmarks()).toHaveLength(2);
  });

  it('of another filter are refused before anything is sent', async () => {
    const { run, practice } = await nightly();
    await run(line);
    const before = practice.asked.length;
    const ran = await run([...line, '--filter', 'patients:lastName~=S']);
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('The bookmark nightly is of patients with the filter none');
    expect(practice.asked.length).toBe(before);
  });

  it('that was reset meanwhile brings everything again, also with --resume', async () => {
    const { run, practice, read, bookmarks, bookmarkFolder } = await nightly();
    await run(line);
    practice.instead = refused('transactions');
    await run(line);
    practice.instead = () => undefined;
    await rm(bookmarkFolder, { recursive: true });
    await run([...line, '--resume']);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
    expect(await bookmarks()).toHaveLength(2);
  });
});

describe('a folder in use', () => {
  const lock = (pid: number, host: string) =>
    JSON.stringify({ pid, host, startedAt: '2026-03-02T05:00:00.000Z', id: 'other' });

  it('is refused by name, process and time, and nothing in it is touched', async () => {
    const { run, folder, practice, names } = await nightly();
    await mkdir(folder);
    await writeFile(`${folder}/.molar-export.lock`, lock(4711, 'other-machine'));
    const ran = await run(BOTH);
    expect(ran.exitCode).toBe(9);
    expect(ran.stderr).toMatch(
      /The folder .*nightly is in use by process 4711 on other-machine since 2026-03-02T05:00:00\.000Z/,
    );
    expect(practice.asked).toEqual([]);
    expect(await names()).toEqual(['.molar-export.lock']);
  });

  it('by a process that is gone is free', async () => {
    const { run, folder, names } = await nightly();
    await mkdir(folder);
    await writeFile(`${folder}/.molar-export.lock`, lock(2 ** 30, hostname()));
    expect((await run(BOTH)).exitCode).toBe(0);
    expect(await names()).not.toContain('.molar-export.lock');
  });
});
