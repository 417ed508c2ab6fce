import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Query from '../../../src/commands/query.ts';
import { makeMirror } from '../../support/mirrorfile.ts';
import { jsonFailure, runCommand } from '../runcommand.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-query-'));
  makeMirror(join(folder, 'mirror.db'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const onTerminal = (sql: string, terminal: number, ...args: string[]) =>
  runCommand('query', Query, [sql, '--from', join(folder, 'mirror.db'), ...args], { terminal });

test('a terminal gets a table of 100 rows, and is told how to get the rest', async () => {
  const many = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200) SELECT x FROM n';
  const ran = await onTerminal(many, 80);
  expect(ran.stdout.trimEnd().split('\n')).toHaveLength(102);
  expect(ran.stderr).toContain('These are the first 100 rows. Add --all for every one, or --limit N.');
  expect((await onTerminal(many, 80, '--all')).stdout.trimEnd().split('\n')).toHaveLength(202);
  expect((await onTerminal(many, 80, '--limit', '5')).stdout.trimEnd().split('\n')).toHaveLength(7);
});

test('numbers are never cut, text is; columns that do not fit are named', async () => {
  const wide = "SELECT 9223372036854775807 AS number, 'a text that is far too long for this' AS words, 'x' AS last_one";
  const { stdout, stderr } = await onTerminal(wide, 34);
  expect(stdout).toContain('9223372036854775807');
  expect(stdout).toMatch(/a text [^\n]*…/);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(34);
  expect(stderr + stdout).toMatch(/last_?/);
  expect((await onTerminal(wide, 20)).stderr).toContain('Select fewer columns.');
});

test('nothing of a value or of a name gets to a terminal that would do something there', async () => {
  const hostile = "SELECT 'a' || char(27) || '[2J' || char(8238) || 'b' AS v, 1 AS \"\u001b[31mred\"";
  for (const format of ['table', 'csv', 'json', 'ndjson', 'tsv']) {
    const { stdout } = await onTerminal(hostile, 80, '--format', format);
    expect(
      ['\u001b', '\u202e'].filter((sign) => stdout.includes(sign)),
      format,
    ).toEqual([]);
  }
  const { stderr } = await onTerminal('SELECT * FROM "\u001b[31mred"', 80);
  expect(stderr).not.toContain('\u001b');
});

test.each([
  ['SELECT first_nam FROM patients', 2, 'query.sql', 'line 1, column 8. Did you mean first_name?'],
  ['SELECT * FROM patient', 4, 'query.table', 'Did you mean patients?'],
  ['SELECT * FROM "pati""ents"', 4, 'query.table', 'line 1, column 15'],
  ['SELECT * FROM appointments', 9, 'query.incomplete', 'molar mirror sync appointments'],
  ['DELETE FROM patients', 2, 'query.sql', 'only read'],
  ['SELECT :a /* * :b */, @c', 2, 'usage.invalid', '--param a=VALUE --param c=VALUE'],
  ['SELECT $$ :a', 2, 'usage.invalid', '--param a=VALUE'],
])('%s ends with %i, %s and what to do', async (sql, exitCode, code, words) => {
  const failed = await onTerminal(sql, 80, '--json');
  expect(jsonFailure(failed)).toMatchObject({ exitCode, code });
  expect(failed.stderr).toContain(words);
});

test('what is no mirror, and a statement with a NUL, are told apart from what is missing', async () => {
  const other = join(folder, 'other.db');
  writeFileSync(other, 'a letter '.repeat(100));
  const from = (file: string) => runCommand('query', Query, ['SELECT 1', '--from', join(folder, file), '--json'], {});
  expect(jsonFailure(await from('other.db'))).toMatchObject({ exitCode: 9, code: 'mirror.unusable' });
  expect(jsonFailure(await from('none.db'))).toMatchObject({ exitCode: 4, code: 'mirror.missing' });
  expect(jsonFailure(await onTerminal('SELECT 1\0', 80, '--json'))).toMatchObject({ exitCode: 2 });
});

test('an empty result says so on a terminal', async () => {
  const ran = await onTerminal('SELECT id, first_name FROM patients WHERE 0', 80);
  expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('No rows match.') });
  expect(ran.stdout).toContain('first_name');
});

test.each([
  ['--format', 'html'],
  ['--format', 'parquet'],
  ['--excel', '--json'],
  ['--limit', '0'],
  ['--timeout', 'soon'],
  ['--all', '--limit', '5'],
])('%s %s is refused', async (...args) => {
  expect(await onTerminal('SELECT 1', 80, ...args)).toMatchObject({ exitCode: 2, stdout: '' });
});
