import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '@oclif/core/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completionOf } from '../../../src/cli/completion/model.ts';
import { SHELL_SCRIPTS } from '../../../src/cli/completion/shells.ts';
import Autocomplete from '../../../src/commands/autocomplete.ts';
import { ROOT } from '../../house/tree.ts';
import { runCommand } from '../runcommand.ts';

let folder: string;
const fileOf = (shell: string) => join(folder, `completion.${shell}`);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'molar-completion-'));
  const completion = completionOf(await Config.load({ root: ROOT }));
  for (const [shell, script] of Object.entries(SHELL_SCRIPTS)) writeFileSync(fileOf(shell), script(completion));
  writeFileSync(join(folder, 'scan one.pdf'), '');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

function run(shell: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(shell, args, { cwd: folder, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

/** Words before the cursor, and what is offered for the last of them. */
const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['pat'], ['patientinsuranceplans', 'patients']],
  [['patients', 'bill'], ['billingtypes']],
  [
    ['patients', 'billingtypes', ''],
    ['list', 'set'],
  ],
  [['agingbal'], ['agingbalances']],
  [['aging', ''], ['report']],
  [['patients', 'list', '--form'], ['--format']],
  [['patients', 'list', '--format', 'nd'], ['ndjson']],
  [
    ['patients', 'list', '--fields', 'la'],
    ['languageType', 'lastModified', 'lastName'],
  ],
  [
    ['patients', 'list', '--fields', 'id,preferredLocation'],
    ['id,preferredLocation', 'id,preferredLocation.id'],
  ],
  [['patients', 'list', '--sort', '-lastN'], ['-lastName']],
  [
    ['patients', 'list', '--status', 'D'],
    ['DECEASED', 'DISMISSED', 'DUPLICATE'],
  ],
  [['patients', 'list', '--all', '--status', 'NE'], ['NEW']],
  [['patients', 'list', '--last-name', ''], []],
  [['transactiontags', 'create', '--tag-type', 'PAY'], ['PAYMENT_TAG']],
  [['config', 'get', 'page'], ['pageSize']],
  [['help', 'exit'], ['exit-codes']],
  [
    ['autocomplete', ''],
    ['bash', 'fish', 'powershell', 'zsh'],
  ],
  [['nosuch', ''], []],
];

describe('the bash script', () => {
  function offered(words: readonly string[]): string[] {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const driver = `source '${fileOf('bash')}'; COMP_WORDS=(molar ${quoted}); COMP_CWORD=${words.length}; _molar; for word in "\${COMPREPLY[@]}"; do printf '%s\\n' "$word"; done`;
    return run('bash', ['--norc', '-c', driver])
      .split('\n')
      .filter((line) => line !== '')
      .sort();
  }

  it('is valid', () => {
    expect(run('bash', ['-n', fileOf('bash')])).toBe('');
  });

  it.each(CASES)('completes %j', (words, expected) => {
    expect(offered(words)).toEqual(expected);
  });

  it.each([
    ['a value after the sign, which bash makes a word', ['patients', 'list', '--format', '=', 'js'], ['json']],
    ['nothing typed after the sign', ['patients', 'get', '--format', '='], expect.arrayContaining(['csv', 'json'])],
    ['values with spaces', ['patients', 'update', '5', '--contact-method', 'C'], ['Call\\ me']],
    ['files', ['documents', 'upload', 'scan'], ['scan one.pdf']],
    ['files of a flag', ['patients', 'list', '--out', 'scan'], ['scan one.pdf']],
  ])('completes %s', (_, words, expected) => {
    expect(offered(words)).toEqual(expected);
  });
});

describe('the zsh script', () => {
  it('is valid', ({ skip }) => {
    if (!isInstalled('zsh')) skip('zsh is not installed');
    expect(run('zsh', ['-n', fileOf('zsh')])).toBe('');
  });

  // Outside its line editor zsh has no completion system: what is asked of it is printed instead.
  const stubs = `compdef() { : }; compset() { : }; _files() { : }
compadd() { while [[ $1 == -* ]]; do [[ $1 == -a ]] && shift || shift 2; done; print -rl -- \${(P)1} }
_describe() { local given=\${@[-1]}; print -rl -- \${\${(P)given}%%:*} }`;

  it.for(CASES)('offers for %j', ([words, expected], { skip }) => {
    if (!isInstalled('zsh')) skip('zsh is not installed');
    const current = words.at(-1) ?? '';
    const typed = ['molar', ...words].map((word) => `'${word}'`).join(' ');
    const call = `words=(${typed}); CURRENT=${words.length + 1}; PREFIX='${current}'; _molar`;
    const offered = run('zsh', ['-f', '-c', `${stubs}\nsource '${fileOf('zsh')}'\n${call}`]).split('\n');
    // The prefix that zsh would take off: values before a comma, the hyphen of a sort.
    const ownPart = (text: string) => text.replace(/^.*,/, '').replace(/^-(?!-)/, '');
    const fitting = offered.filter((word) => word !== '' && word.startsWith(ownPart(current)));
    expect(fitting.sort()).toEqual(expected.map(ownPart));
  });
});

describe('the fish script', () => {
  it('is valid', ({ skip }) => {
    if (!isInstalled('fish')) skip('fish is not installed');
    expect(run('fish', ['-n', fileOf('fish')])).toBe('');
  });

  it.for(CASES)('completes %j', ([words, expected], { skip }) => {
    if (!isInstalled('fish')) skip('fish is not installed');
    const script = `source '${fileOf('fish')}'; complete -C 'molar ${words.join(' ')}'`;
    const offered = run('fish', ['--no-config', '-c', script]).split('\n');
    const candidates = offered.map((line) => line.split('\t')[0]).filter((word) => word !== '');
    expect(candidates.sort()).toEqual(expected);
  });
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

  it('refuses other shells', async () => {
    const ran = await runCommand('autocomplete', Autocomplete, ['tcsh']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain('SHELL must be one of bash, zsh, fish, powershell.');
  });
});
