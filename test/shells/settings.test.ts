import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { nodeAlias, settingsCommand, settingsFiles } from '../../src/shells/settings.ts';
import { isMissing } from './realshells.ts';
import { typedIntoCmd, typedIntoPowershell } from './windowsrules.ts';

const VARIABLES = { MOLAR_URL: 'http://127.0.0.1:4010/a%20b', MOLAR_TOKEN: "it's $HOME \u2019%PATH%" };
const folder = mkdtempSync(join(tmpdir(), 'molar-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.for(['bash', 'zsh', 'fish'] as const)('%s takes settings over, and runs a script by its name', (shell, { skip }) => {
  if (isMissing(shell)) skip(`${shell} is not installed`);
  const place = join(folder, shell, "Ann's files");
  mkdirSync(place, { recursive: true });
  for (const { extension, text } of settingsFiles(VARIABLES)) writeFileSync(join(place, `demo${extension}`), text);
  const script = join(place, 'tell.js');
  writeFileSync(
    script,
    'console.log(JSON.stringify([process.env.MOLAR_URL, process.env.MOLAR_TOKEN, ...process.argv.slice(2)]))',
  );
  const lines = [settingsCommand(join(place, 'demo'), 'sh'), nodeAlias('tell', script, 'sh'), 'eval "tell \'a b\'"'];
  // A script of bash reads aliases only when told to.
  const all = [...(shell === 'bash' ? ['shopt -s expand_aliases'] : []), ...lines].join('\n');
  const told = execFileSync(shell, ['-c', all], { encoding: 'utf8' });
  expect(JSON.parse(told)).toEqual([...Object.values(VARIABLES), 'a b']);
});

const textOf = (extension: string) => settingsFiles(VARIABLES).find((file) => file.extension === extension)?.text ?? '';

it('sets the same in PowerShell', () => {
  const set = [...textOf('.ps1').matchAll(/^\$env:(\w+) = (.*)\r$/gm)].map(([, name, value]) => [
    name,
    ...typedIntoPowershell(`args ${value}`),
  ]);
  expect(set).toEqual(Object.entries(VARIABLES));
});

it('sets the same in a command file', () => {
  // In a file, unlike in a typed line, a doubled percent sign stands for one.
  const set = [...textOf('.cmd').matchAll(/^@set "(\w+)=(.*)"\r$/gm)].map(([, name, value]) => [
    name,
    value?.replaceAll('%%', '%'),
  ]);
  expect(set).toEqual(Object.entries(VARIABLES));
  expect(textOf('.cmd').replaceAll('%%', '')).not.toContain('%');
});

it('says how each shell of Windows reads them', () => {
  const path = "C:\\Ann's files\\demo";
  expect(settingsCommand(path, 'pwsh')).toBe(
    "Get-Content -Raw -LiteralPath 'C:\\Ann''s files\\demo.ps1' | Invoke-Expression",
  );
  expect(settingsCommand(path, 'cmd')).toBe('call "C:\\Ann\'s files\\demo.cmd"');
  expect(typedIntoCmd(settingsCommand(path, 'cmd').replace('call', 'args'), {})).toEqual([`${path}.cmd`]);
  expect(nodeAlias('molar', 'C:\\a b\\run.js', 'powershell')).toBe("function molar { node 'C:\\a b\\run.js' @args }");
  expect(nodeAlias('molar', 'C:\\a b\\run.js', 'cmd')).toBe('doskey molar=node "C:\\a b\\run.js" $*');
});

it('refuses a value that cmd cannot set', () => {
  expect(() => settingsFiles({ A: 'a"b' })).toThrow('The value of A has quotes or line breaks.');
});
