import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '@oclif/core/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHELL_SCRIPTS } from '../../../src/cli/completion/autocompletecommand.ts';
import { type Completion, completionOf } from '../../../src/cli/completion/model.ts';
import { suggestions } from '../../../src/cli/completion/suggestions.ts';
import Autocomplete from '../../../src/commands/autocomplete.ts';
import { ROOT } from '../../house/tree.ts';
import { namesEnv } from '../names/namesenv.ts';
import { runCommand } from '../runcommand.ts';
import { CASES } from './cases.ts';

let folder: string;
let completion: Completion;
const fileOf = (shell: string) => join(folder, `completion.${shell}`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'molar-completion-'));
  completion = completionOf(await Config.load({ root: ROOT }));
  for (const [shell, script] of Object.entries(SHELL_SCRIPTS)) writeFileSync(fileOf(shell), script(completion));
  writeFileSync(join(folder, 'scan one.pdf'), '');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const installed = new Map(
  ['zsh', 'fish'].map((shell) => [shell, spawnSync(shell, ['-c', 'true']).status === 0] as const),
);

function run(shell: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** What ends the output of one of several commands. */
const END = '--- the end of one ---';

/** What each of some commands prints, in one shell that has read the script once, which takes longer than they do. */
function runEach(shell: string, args: readonly string[], prepared: string, commands: readonly string[]): string[] {
  const parts = commands.map((command) => `${command}\necho '${END}'`);
  return run(shell, [...args, '-c', [prepared, ...parts].join('\n')])
    .split(`${END}\n`)
    .slice(0, commands.length);
}

describe('the bash script', () => {
  /** Words as bash parts them, at the signs that its line editor breaks words at too. */
  const parted = (word: string) => (word === '' ? [word] : word.split(/([:=]+)/).filter((part) => part !== ''));

  /** What completes one line. */
  function driverOf(words: readonly string[]): string {
    const parts = words.flatMap(parted);
    const quoted = parts.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const line = `molar ${words.join(' ')}`.replaceAll("'", "'\\''");
    return `COMP_LINE='${line}'; COMP_WORDS=(molar ${quoted}); COMP_CWORD=${parts.length}; _molar; for word in "\${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done`;
  }

  let offered: string[][];
  beforeAll(() => {
    const prepared = `source '${fileOf('bash')}'; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'`;
    // A fork for each: what one leaves in variables is not there for the next.
    const lines = [...CASES.map(([words]) => words), ...MORE.map(([, words]) => words)];
    const drivers = lines.map((words) => `( ${driverOf(words)} )`);
    offered = runEach('bash', ['--norc'], prepared, drivers).map((text) =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .sort(),
    );
  });

  it('is valid', () => {
    expect(run('bash', ['-n', fileOf('bash')])).toBe('');
  });

  it.each(CASES.map((each, at) => [...each, at] as const))('completes %j', (_, expected, at) => {
    expect(offered[at]).toEqual(expected);
  });

  const MORE: readonly (readonly [name: string, words: readonly string[], expected: unknown])[] = [
    ['a value after the sign, which bash makes a word', ['patients', 'list', '--format=js'], ['json']],
    ['nothing typed after the sign', ['patients', 'get', '--format='], expect.arrayContaining(['csv', 'json'])],
    ['a list after the sign', ['patients', 'list', '--fields=id,lastN'], ['id,lastName']],
    ['a value with a colon', ['server', 'tokens', 'create', '--scope', 'model:r'], ['read']],
    ['nothing after a colon', ['server', 'tokens', 'create', '--scope', 'model:'], ['read', 'write']],
    ['colon and sign', ['server', 'tokens', 'create', '--scope=model:w'], ['write']],
    [
      'a flag after a value with a colon',
      ['server', 'tokens', 'create', '--scope', 'model:read', '--exp'],
      ['--expires'],
    ],
    ['within a quote', ['patients', 'update', '5', '--contact-method', "'Call"], ['Call me']],
    ['values with spaces', ['patients', 'update', '5', '--contact-method', 'C'], ['Call\\ me']],
    [
      'tables within a statement',
      ['query', "'SELECT count(*) FROM patient_ph"],
      ['SELECT count(*) FROM patient_phones'],
    ],
    ['columns after a dot', ['query', "'SELECT p.first_n"], ['SELECT p.first_name']],
    ['files', ['documents', 'upload', 'scan'], ['scan one.pdf']],
    ['files of a flag', ['patients', 'list', '--out', 'scan'], ['scan one.pdf']],
  ];

  it.each(MORE.map(([name, , expected], at) => [name, expected, CASES.length + at] as const))(
    'completes %s',
    (_, expected, at) => {
      expect(offered[at]).toEqual(expected);
    },
  );
});

it('the bash script asks molar for names', () => {
  // Stands for the program, and tells how it was called.
  const molar = `molar() { echo "$*" >asked; printf '%s\\n' 'Main Street' 'Mill' 'Lake'; }`;
  const line = `COMP_WORDBREAKS=' ='; COMP_LINE='molar events list --operatory 5,M'; COMP_WORDS=(molar events list --operatory '5,M'); COMP_CWORD=4`;
  const driver = `source '${fileOf('bash')}'; ${molar}; ${line}; _molar; printf '%s\\n' "\${COMPREPLY[@]}"; cat asked`;
  expect(run('bash', ['--norc', '-c', driver]).split('\n')).toEqual([
    '5,Main\\ Street',
    '5,Mill',
    'autocomplete bash --names operatories',
    '',
  ]);
});

describe('the zsh script', () => {
  it('is valid', ({ skip }) => {
    if (!installed.get('zsh')) skip('zsh is not installed');
    expect(run('zsh', ['-n', fileOf('zsh')])).toBe('');
  });

  // Outside its line editor zsh has no completion system: what is asked of it is printed instead.
  const stubs = `compdef() { : }; compset() { : }; _files() { : }
compadd() { while [[ $1 == -* ]]; do [[ $1 == -a ]] && shift || shift 2; done; print -rl -- \${(P)1} }
_describe() { local given=\${@[-1]}; print -rl -- \${\${(P)given}%%:*} }`;

  let printed: string[];
  beforeAll(() => {
    if (!installed.get('zsh')) return;
    const calls = CASES.map(([words]) => {
      const typed = ['molar', ...words].map((word) => `'${word}'`).join(' ');
      return `( words=(${typed}); CURRENT=${words.length + 1}; PREFIX='${words.at(-1) ?? ''}'; _molar )`;
    });
    printed = runEach('zsh', ['-f'], `${stubs}\nsource '${fileOf('zsh')}'`, calls);
  });

  it.for(CASES.map((each, at) => [...each, at] as const))('offers for %j', ([words, expected, at], { skip }) => {
    if (!installed.get('zsh')) skip('zsh is not installed');
    const current = words.at(-1) ?? '';
    const offered = (printed[at] ?? '').split('\n');
    // The prefix that zsh would take off: values before a comma, the hyphen of a sort.
    const ownPart = (text: string) => text.replace(/^.*,/, '').replace(/^-(?!-)/, '');
    const fitting = offered.filter((word) => word !== '' && word.startsWith(ownPart(current)));
    expect(fitting.sort()).toEqual(expected.map(ownPart));
  });
});

const NO_NAMES = { profiles: [], queries: [], locations: [], providers: [], operatories: [] };

describe('suggestions', () => {
  it.each(CASES)('for %j', (words, expected) => {
    const typed = { before: words.slice(0, -1), current: words.at(-1) ?? '' };
    expect(
      suggestions(completion, typed, NO_NAMES)
        .map(({ word }) => word)
        .sort(),
    ).toEqual(expected);
  });

  it.each([
    ['values after the sign', ['patients', 'list'], '--format=nd', ['--format=ndjson']],
    ['lists after the sign', ['patients', 'list'], '--fields=id,lastN', ['--fields=id,lastName']],
    ['values with a colon', ['server', 'tokens', 'create', '--scope'], 'model:', ['model:read', 'model:write']],
    ['profiles', ['patients', 'list', '--profile'], 'w', ['work', 'west']],
    ['profiles to remove', ['profiles', 'remove'], 'h', ['home']],
    ['saved statements', ['query', '--name'], 'o', ['overdue']],
    ['names of locations', ['patients', 'list', '--location'], 'La', ['Lake']],
    ['names of locations after others', ['events', 'create', '--location'], '5,M', ['5,Main Street']],
    ['no flags after a flag without a value', ['patients', 'list', '--limit'], '', []],
  ])('know %s', (_, before, current, expected) => {
    const found = suggestions(
      completion,
      { before, current },
      { ...NO_NAMES, profiles: ['work', 'west', 'home'], queries: ['overdue'], locations: ['Main Street', 'Lake'] },
    );
    expect(found.map(({ word }) => word)).toEqual(expected);
  });
});

describe('the fish script', () => {
  it('is valid', ({ skip }) => {
    if (!installed.get('fish')) skip('fish is not installed');
    expect(run('fish', ['-n', fileOf('fish')])).toBe('');
  });

  let printed: string[];
  beforeAll(() => {
    if (!installed.get('fish')) return;
    const calls = CASES.map(([words]) => `complete -C 'molar ${words.join(' ')}'`);
    printed = runEach('fish', ['--no-config'], `source '${fileOf('fish')}'`, calls);
  });

  it.for(CASES.map((each, at) => [...each, at] as const))('completes %j', ([, expected, at], { skip }) => {
    if (!installed.get('fish')) skip('fish is not installed');
    const offered = (printed[at] ?? '').split('\n');
    const candidates = offered.map((line) => line.split('\t')[0]).filter((word) => word !== '');
    expect(candidates.sort()).toEqual(expected);
  });
});

it('molar autocomplete tells names to the scripts', async () => {
  const env = namesEnv('kind,id,name\nlocation,5,Main Street\nlocation,6,\nprovider,7,Dr. Ång\n');
  const told = async (kind: string) =>
    (await runCommand('autocomplete', Autocomplete, ['fish', '--names', kind], { env })).stdout;
  expect([await told('locations'), await told('providers'), await told('operatories')]).toEqual([
    'Main Street\nALL\n',
    'Dr. Ång\n',
    '',
  ]);
});

describe('molar autocomplete', () => {
  it.each([
    ['bash', 'complete -F _molar molar'],
    ['zsh', '#compdef molar'],
    ['fish', "complete -c molar -f -a '(__molar_complete)'"],
    ['powershell', 'Register-ArgumentCompleter -Native -CommandName molar'],
  ])('prints the script for %s', async (shell, line) => {
    const ran = await runCommand('autocomplete', Autocomplete, [shell]);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).toContain(line);
  });

  it.each([
    ['a command', 'molar patients', 'patients', 'patients\tPeople the practice treats or bills\n'],
    ['a flag', 'molar patients list --form', '--form', '--format\tOutput format'],
    [
      'a list that the shell takes for one word',
      'molar patients list --fields id,lastN',
      'id,lastN',
      'id,lastName\t\n',
    ],
    ['a list that the shell takes for two words', 'molar patients list --fields id,lastN', 'lastN', 'lastName\t\n'],
    ['what has a blank', 'molar patients update 5 --contact-method "Call', '"Call', "'Call me'\t\n"],
    ['nothing', 'molar nosuch ', '', ''],
  ])('answers PowerShell about %s', async (_, line, word, expected) => {
    const asked = Buffer.from(`${line}\n${word}`).toString('base64');
    const ran = await runCommand('autocomplete', Autocomplete, ['powershell', '--line', asked]);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    if (expected === '') expect(ran.stdout).toBe('');
    expect(ran.stdout.slice(0, expected.length)).toBe(expected);
  });

  it('refuses other shells', async () => {
    const ran = await runCommand('autocomplete', Autocomplete, ['tcsh']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('SHELL must be one of bash, zsh, fish, powershell.');
  });
});
