import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { otherUser } from '../support/services.ts';
import { ROOT } from './tree.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-run-'));
  for (const name of [
    'bin/run.js',
    'bin/package.json',
    'dist/package.json',
    'dist/cli/startup/node20.js',
    'dist/shells/shell.js',
  ]) {
    cpSync(join(ROOT, name), join(folder, name));
  }
  write('package.json', '{"name":"molar-cli","version":"1.2.3"}');
  write('oclif.manifest.json', '{}');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const program = join(folder, 'bin/run.js');
  const cache = join(folder, 'cache');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', XDG_CACHE_HOME: cache, ...env },
  });
  return { status, stdout, stderr };
}

it('says of a Node that is too old what every program of a checkout says', () => {
  const neededBy = (name: string) =>
    /Node 20\.19[\w .,]*(?=[;'])/.exec(readFileSync(join(ROOT, 'bin', name), 'utf8'))?.[0];
  expect(neededBy('run.js')).toBe('Node 20.19 or newer, and neither 21 nor 22.0 to 22.2');
  expect(neededBy('oldnode.mjs')).toBe(neededBy('run.js'));
});

describe('bin/run.js', () => {
  it('says when nothing has been built', () => {
    expect(run(['list'])).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining('not been built yet') });
  });

  it.each([
    ['a cache', {}],
    ['none', { XDG_CACHE_HOME: '/dev/null' }],
    ['no home', { XDG_CACHE_HOME: '' }],
  ])('runs the program with %s, time and again', (_, env) => {
    write('dist/cli/main.js', 'exports.main = async (argv) => void process.stdout.write(argv.join());');
    const ran = { status: 0, stdout: 'get,1', stderr: '' };
    expect([run(['get', '1'], env), run(['get', '1'], env)]).toEqual([ran, ran]);
  });

  it('keeps no code where others could put theirs', () => {
    write('dist/cli/main.js', 'exports.main = async () => undefined;');
    const compiled = join(folder, 'cache/molar/compiled');
    mkdirSync(compiled, { recursive: true });
    const other = otherUser();
    const filled = () => {
      run(['list']);
      return readdirSync(compiled).length > 0;
    };
    chmodSync(compiled, 0o770);
    expect(filled()).toBe(false);
    chmodSync(compiled, 0o700);
    if (other !== undefined) {
      chownSync(compiled, other, other);
      expect(filled()).toBe(false);
      chownSync(compiled, 0, 0);
    }
    expect(filled()).toBe(true);
  });

  it('keeps its code below LOCALAPPDATA on Windows, and tells the help for the shell there', () => {
    write('dist/cli/main.js', 'exports.main = async () => void process.stdout.write("program");');
    write('dist/help/patients.list.json', '{"sh":"for sh\\n","powershell":"for PowerShell\\n","cmd":"for cmd\\n"}');
    // Whatever else differs there: the program is told that it is on Windows, and nothing of a home folder is to be used.
    write('windows.cjs', "Object.defineProperty(process, 'platform', { value: 'win32' });");
    const NODE_OPTIONS = `--require=${join(folder, 'windows.cjs')}`;
    const env = {
      NODE_OPTIONS,
      LOCALAPPDATA: join(folder, 'local'),
      HOME: folder,
      XDG_CACHE_HOME: join(folder, 'home'),
    };
    expect(run(['list'], env)).toEqual({ status: 0, stdout: 'program', stderr: '' });
    expect(readdirSync(join(folder, 'local/molar/cache/compiled')).length).toBeGreaterThan(0);
    expect(existsSync(join(folder, 'home'))).toBe(false);
    const help = (more: Readonly<Record<string, string>>) => run(['patients', 'list', '--help'], { ...env, ...more });
    expect(help({}).stdout).toBe('for PowerShell\n');
    expect(help({ PROMPT: '$P$G' }).stdout).toBe('for cmd\n');
    expect(help({ MOLAR_SHELL: 'sh' }).stdout).toBe('for sh\n');
    // The build has prepared none for it.
    expect(help({ MOLAR_SHELL: 'pwsh' })).toEqual({ status: 0, stdout: 'program', stderr: '' });
    expect(run(['list'], { ...env, LOCALAPPDATA: '' })).toEqual({ status: 0, stdout: 'program', stderr: '' });
  });

  it('names nothing in the cache after what was typed', () => {
    write('dist/cli/main.js', 'exports.main = async () => undefined;');
    run(['patients', 'get', 'Mustermann']);
    const cache = join(folder, 'cache');
    const names = existsSync(cache) ? readdirSync(cache, { recursive: true }).map(String) : [];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => /Mustermann|patients/.test(name))).toEqual([]);
  });

  it.each([
    ['fails', 'exports.main = async () => { throw new Error("broken"); };', 1],
    ['sets an exit code', 'exports.main = async () => { process.exitCode = 7; };', 7],
    ['is never done with what it waits for', 'exports.main = () => new Promise(() => {});', 13],
  ])('ends as it should when the program %s', (_, text, status) => {
    write('dist/cli/main.js', text);
    expect(run(['list'])).toMatchObject({ status, stdout: '' });
  });
});
