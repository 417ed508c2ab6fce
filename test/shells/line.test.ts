import { Config } from '@oclif/core/config';
import { describe, expect, it } from 'vitest';
import { inShell } from '../../src/shells/line.ts';
import type { Shell } from '../../src/shells/shell.ts';
import { ROOT } from '../house/tree.ts';
import { typedInto } from './realshells.ts';
import { legacyCommandLine, splitByRuntime, typedIntoCmd, typedIntoPowershell } from './windowsrules.ts';

const { commands } = await Config.load({ root: ROOT });
const examples = commands
  .flatMap((command) => command.examples ?? [])
  .map((example) => (typeof example === 'string' ? example : example.command).replaceAll('<%= config.bin %>', 'molar'));

describe('inShell', () => {
  it('writes every example so that each shell gives the same arguments', () => {
    const plain = examples.filter((line) => !/ [|<>]+ |\$|~/.test(line));
    const given = typedInto(
      'bash',
      plain.map((line) => line.replace('molar', 'args')),
    );
    const typed = (shell: Shell) => plain.map((line) => (inShell(line, shell) ?? '').replace('molar', 'args'));
    expect(plain.length).toBeGreaterThan(150);
    expect(typed('cmd').map((line) => typedIntoCmd(line, {}))).toEqual(given);
    expect(typed('pwsh').map(typedIntoPowershell)).toEqual(given);
    expect(typed('powershell').map((line) => splitByRuntime(legacyCommandLine(typedIntoPowershell(line))))).toEqual(
      given,
    );
  });

  it.each<[line: string, powershell: string | undefined, pwsh: string | undefined, cmd: string | undefined]>([
    [
      'molar names list --csv | molar names import - --profile west',
      "cmd /c 'molar names list --csv | molar names import - --profile west'",
      'molar names list --csv | molar names import - --profile west',
      'molar names list --csv | molar names import - --profile west',
    ],
    [
      'molar login --token-stdin < a.txt',
      "cmd /c 'molar login --token-stdin < a.txt'",
      undefined,
      'molar login --token-stdin < a.txt',
    ],
    [
      "molar stream listen --name 'a b' >> all",
      undefined,
      "molar stream listen --name 'a b' >> all",
      'molar stream listen --name "a b" >> all',
    ],
    [
      'molar export ALL --to $HOME/nightly',
      'molar export ALL --to "$HOME/nightly"',
      'molar export ALL --to "$HOME/nightly"',
      'molar export ALL --to "%USERPROFILE%/nightly"',
    ],
    [
      'molar mirror sync --deidentify ~/a.key',
      'molar mirror sync --deidentify "$HOME/a.key"',
      'molar mirror sync --deidentify "$HOME/a.key"',
      'molar mirror sync --deidentify "%USERPROFILE%/a.key"',
    ],
    [
      'molar verify --expect "$(cat head.txt)"',
      'molar verify --expect (Get-Content head.txt)',
      'molar verify --expect (Get-Content head.txt)',
      undefined,
    ],
    [
      'molar documents upload scans/*.jpg',
      'molar documents upload scans/*.jpg',
      'molar documents upload scans/*.jpg',
      'molar documents upload scans/*.jpg',
    ],
    [
      "molar documents upload 'scans/*.jpg'",
      "molar documents upload 'scans/*.jpg'",
      "molar documents upload 'scans/*.jpg'",
      'molar documents upload "scans/*.jpg"',
    ],
    ['molar documents download 8 --out - | lp', undefined, undefined, undefined],
    ['createdb molar', undefined, undefined, undefined],
    ['export A=b', undefined, undefined, undefined],
    ['molar query "$SQL"', undefined, undefined, undefined],
    ["molar query 'SELECT", undefined, undefined, undefined],
    ['molar a && molar b', undefined, undefined, undefined],
    ['molar a > $HOME/b $(c)', undefined, undefined, undefined],
  ])('writes %s', (line, powershell, pwsh, cmd) => {
    expect([inShell(line, 'powershell'), inShell(line, 'pwsh'), inShell(line, 'cmd')]).toEqual([powershell, pwsh, cmd]);
    expect(inShell(line, 'sh')).toBe(line);
  });
});
