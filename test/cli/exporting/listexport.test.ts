import { readdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ClosedPipe } from '../../../src/cli/terminal/streams.ts';
import DocumentsList from '../../../src/commands/documents/list.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import TransactionsList from '../../../src/commands/transactions/list.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { formatsWhere } from '../../../src/core/output/formats.ts';
import { problem, SleepLog, success } from '../../core/transport/script.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';
import { desk, Practice } from './practice.ts';

const RESUMABLE = formatsWhere(({ isResumable }) => isResumable).join(', ');

const FIELDS = ['--fields', 'id,lastName'];
const patients = (...ids: number[]) => ids.map((id) => ({ id, lastName: `Name ${id}` }));
const CSV = 'id,lastName\n1,Name 1\n2,Name 2\n3,Name 3\n';

function practiceOf(...ids: number[]): Practice {
  const practice = new Practice();
  practice.rows.patients = patients(...ids);
  return practice;
}

function list(argv: readonly string[], practice: Practice, world: World) {
  return runCommand('patients:list', PatientsList, argv, { script: practice.script, ...world });
}

/** A failing run of two pages of one, at the request of that number. */
function failing(practice: Practice, at: number): void {
  let number = 0;
  practice.instead = () => (++number === at ? problem(403, 'auth.scope_missing', null, 'No.') : undefined);
}

describe('list --out', () => {
  it('writes the file, and one line about it to standard error', async () => {
    const { at, env } = await desk();
    const ran = await list([...FIELDS, '--out', at('p.csv')], practiceOf(1, 2, 3), { env });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringMatching(/^Wrote 3 patients to .*p\.csv \(1 page, 0\.\d s\)\.\n$/),
    });
    expect(await readFile(at('p.csv'), 'utf8')).toBe(CSV);
  });

  it('says nothing with --quiet, and keeps the warnings of the server in the receipt', async () => {
    const { at, env } = await desk();
    const practice = practiceOf();
    const warning = { title: 'Deprecated parameter', description: 'Use lastId.', source: 'page' };
    practice.instead = () => success([], { warnings: [warning] });
    const argv = [...FIELDS, '--out', at('p.csv'), '--receipt'];
    const loud = await list(argv, practice, { env });
    expect(loud.stderr.match(/Deprecated parameter: Use lastId\./g)).toHaveLength(1);
    expect(await list([...argv, '--quiet'], practice, { env })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse(await readFile(at('p.csv.receipt.json'), 'utf8'))).toMatchObject({
      rows: 0,
      warnings: [warning],
    });
  });

  it('asks for all transactions, whatever the server would leave out by itself, unless told otherwise', async () => {
    const { at, env } = await desk();
    const practice = new Practice();
    practice.rows.transactions = [];
    const run = (...argv: string[]) =>
      runCommand('transactions:list', TransactionsList, ['--out', at('t.csv'), ...argv], {
        script: practice.script,
        env,
      });
    await run();
    await run('--server-defaults');
    expect(practice.asked.map(([, { filter, lastId }]) => [filter, lastId])).toEqual([
      ['transactionDate>=0001-01-01', '0'],
      [undefined, '0'],
    ]);
  });

  it.each([
    ['csv', CSV],
    ['tsv', CSV.replaceAll(',', '\t')],
    [
      'ndjson',
      patients(1, 2, 3)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    ],
    [
      'json',
      `[\n${patients(1, 2, 3)
        .map((row) => JSON.stringify(row))
        .join(',\n')}\n]\n`,
    ],
  ])('goes on with --resume to the same bytes: %s', async (format, bytes) => {
    const { at, env, folder } = await desk();
    const practice = practiceOf(1, 2, 3);
    failing(practice, 3);
    const argv = [...FIELDS, '--format', format, '--out', at('p'), '--page-size', '1'];
    await writeFile(at('p'), 'before');
    const stopped = await list(argv, practice, { env });
    expect(stopped.exitCode).toBe(3);
    expect(stopped.stderr).toContain('Run it again with --resume to continue after 2 records.');
    expect(await readFile(at('p'), 'utf8')).toBe('before');
    practice.instead = () => undefined;
    const ended = await list([...argv, '--resume'], practice, { env });
    expect(ended).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^Wrote 3 patients .*resumed 1 time.*\n$/),
    });
    expect(await readFile(at('p'), 'utf8')).toBe(bytes);
    expect(await readdir(folder)).toEqual(['p']);
  });

  it('of a table keeps nothing of a run that failed', async () => {
    const { at, env, folder } = await desk();
    const practice = practiceOf(1, 2, 3);
    failing(practice, 2);
    const { exitCode, stderr } = await list(['--format', 'table', '--out', at('p.txt'), '--page-size', '1'], practice, {
      env,
    });
    expect([exitCode, stderr.includes('--resume')]).toEqual([3, false]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('names every difference when another export is to be resumed, and asks nothing', async () => {
    const { at, env } = await desk();
    const practice = practiceOf(1, 2, 3);
    failing(practice, 2);
    const argv = [...FIELDS, '--out', at('p.csv'), '--page-size', '1'];
    await list(argv, practice, { env });
    const before = practice.asked.length;
    const other = [
      '--fields',
      'id',
      '--out',
      at('p.csv'),
      '--filter',
      'lastName~=N',
      '--no-header',
      '--resume',
      '--json',
    ];
    const others = { ...env, MOLAR_ORGANIZATION: 'org-2', MOLAR_URL: 'https://other.example.com' };
    const refused = await list(other, practice, { env: others });
    expect(refused.exitCode).toBe(2);
    expect(jsonFailure(refused).message).toMatch(
      /the URL was https:\/\/api\.example\.com and is now https:\/\/other\.example\.com; the organization was org-1 and is now org-2; the filter was none and is now lastName~=N; the selection of fields was id,lastName and is now id; the format was csv and is now json; the line of column names was on and is now off\.$/,
    );
    expect(practice.asked.length).toBe(before);
  });

  it.each([
    ['run.interrupted', 130],
    ['run.terminated', 143],
  ] as const)('ends after %s with %i and says how to go on', async (code, exitCode) => {
    const { at, env } = await desk();
    const practice = practiceOf(1, 2, 3);
    const stopping = new AbortController();
    practice.instead = () => {
      if (practice.asked.length === 3) stopping.abort(localFailure(code, 'Stopped.'));
      return undefined;
    };
    const argv = [...FIELDS, '--out', at('p.csv'), '--page-size', '1'];
    const ran = await list(argv, practice, { env, signal: stopping.signal });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toMatch(/Next: Run it again with --resume to continue after \d records?\./);
    await list([...argv, '--resume'], practice, { env });
    expect(await readFile(at('p.csv'), 'utf8')).toBe(CSV);
  });

  it('writes nothing but the error to standard error with --json', async () => {
    const { at, env } = await desk();
    const practice = practiceOf(1, 2, 3);
    failing(practice, 3);
    const argv = [...FIELDS, '--json', '--out', at('p.json'), '--page-size', '1'];
    expect(jsonFailure(await list(argv, practice, { env })).exitCode).toBe(3);
    failing(practice, 1);
    const again = await list([...argv, '--resume'], practice, { env });
    expect(jsonFailure(again)).toMatchObject({ exitCode: 3, hint: expect.stringContaining('--resume') });
  });
});

describe('flags that do not go together', () => {
  it.each<[readonly string[], string]>([
    [['--resume'], '--resume needs a file: name it with --out FILE.'],
    [['--receipt'], '--receipt needs a file: name it with --out FILE.'],
    [['--resume', '--out', 'p.xlsx'], `Output as xlsx cannot be resumed; these formats can: ${RESUMABLE}.`],
    [
      ['--resume', '--out', 'p.txt', '--format', 'table'],
      `Output as table cannot be resumed; these formats can: ${RESUMABLE}.`,
    ],
    [['--since-last', 'x', '--limit', '5'], '--since-last and --limit contradict each other'],
    [['--since-last', 'x', '--filter', 'lastModified>=2026-01-01'], '--since-last sets lastModified itself'],
    [['--since-last', 'a/b'], 'The name of a bookmark is 1 to 64 letters'],
    [['--parallel', '0'], '--parallel'],
    [['--parallel', '17'], '--parallel'],
  ])('%j', async (argv, message) => {
    const ran = await list(argv, new Practice(), {});
    expect([ran.exitCode, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain(message);
  });

  it('--since-last needs a list that tells what changed', async () => {
    const ran = await runCommand('documents:list', DocumentsList, ['--since-last', 'x'], {});
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('--since-last needs a list that can be filtered by lastModified; this one cannot.');
  });
});

describe('--since-last', () => {
  const changed = (id: number, lastModified: string) => ({ id, lastName: `Name ${id}`, lastModified });
  const argv = ['--fields', 'id', '--since-last', 'nightly', '--csv'];
  const changing = () => {
    const practice = new Practice();
    // The clock of the test stands at 2026-03-02 12:00.
    practice.rows.patients = [changed(1, '2026-01-01T00:00:00.000Z'), changed(2, '2026-03-02T11:58:00.000Z')];
    return practice;
  };

  it('brings everything, then what changed; records of the overlap come once', async () => {
    const { env } = await desk();
    const practice = changing();
    const first = await list(argv, practice, { env });
    expect(first).toEqual({
      exitCode: 0,
      stdout: 'id\n1\n2\n',
      stderr: 'The first run of this bookmark: every record.\n',
    });
    const second = await list(argv, practice, { env });
    expect([second.stdout, second.stderr]).toEqual(['id\n', 'Modified since 2026-03-02T11:55:00.000Z.\n']);
    practice.rows.patients = [changed(1, '2026-03-02T12:30:00.000Z'), changed(2, '2026-03-02T11:58:00.000Z')];
    expect((await list(argv, practice, { env })).stdout).toBe('id\n1\n');
  });

  it('keeps its place after a failure', async () => {
    const { env } = await desk();
    const practice = changing();
    failing(practice, 2);
    await list([...argv, '--page-size', '1'], practice, { env });
    practice.instead = () => undefined;
    expect((await list(argv, practice, { env })).stdout).toBe('id\n1\n2\n');
  });

  it('keeps its place when the reader has gone: | head', async () => {
    const { env } = await desk();
    const practice = changing();
    for (const form of [argv, [...argv.slice(0, -1), '--json']]) {
      const ran = await list(form, practice, { env, write: () => Promise.reject(new ClosedPipe()) });
      expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    }
    expect((await list(argv, practice, { env })).stdout).toBe('id\n1\n2\n');
  });

  it('begins where the server was when the first page was read, if its clock is behind', async () => {
    const { env } = await desk();
    const practice = changing();
    practice.counts = false;
    practice.instead = () => success([], {}, { date: 'Mon, 02 Mar 2026 09:00:00 GMT' });
    await list(argv, practice, { env });
    await list(argv, practice, { env });
    expect(practice.asked.map(([, { filter }]) => filter)).toEqual([
      'lastModified>=0001-01-01T00:00:00Z',
      // Of those without a date nothing else tells whether there are any.
      undefined,
      'lastModified>=2026-03-02T08:55:00.000Z',
    ]);
  });

  it('goes on with an unfinished run from where its bookmark stood, and moves after it', async () => {
    const { env, at } = await desk();
    const practice = changing();
    const line = [...argv, '--out', at('p.csv'), '--page-size', '1'];
    failing(practice, 2);
    expect((await list(line, practice, { env })).exitCode).toBe(3);
    practice.instead = () => undefined;
    const clock = new SleepLog();
    await clock.sleep(3_600_000);
    expect((await list([...line, '--resume'], practice, { env, clock })).exitCode).toBe(0);
    expect(await readFile(at('p.csv'), 'utf8')).toBe('id\n1\n2\n');
    await list(argv, practice, { env, clock });
    // The start of the first of the two runs counts.
    expect(practice.asked.at(-1)?.[1].filter).toBe('lastModified>=2026-03-02T11:55:00.000Z');
  });
});
