import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasColours } from '../../../src/cli/terminal/streams.ts';
import HelpOnCommands from '../../../src/commands/help.ts';
import PatientsGet from '../../../src/commands/patients/get.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { ListScript, success } from '../../core/transport/script.ts';
import { runCommand, type World } from '../runcommand.ts';

describe('hasColours', () => {
  it.each([
    [{}, true],
    [{ NO_COLOR: '' }, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '0' }, false],
    [{ TERM: 'xterm-256color' }, true],
    [{ TERM: 'dumb' }, false],
  ])('with %j: %s', (env, has) => {
    expect(hasColours(env)).toBe(has);
  });
});

const patients = [
  { id: 1, lastName: 'One\u001b[31m' },
  { id: 2, lastName: 'Two' },
];
const ENV = { NO_COLOR: '', TERM: 'xterm-256color' };
const list = ({ env, ...world }: World, ...argv: string[]) => {
  const script = new ListScript(success(patients), success([]));
  const all = ['--fields', 'id,lastName', ...argv];
  return runCommand('patients:list', PatientsList, all, { script, ...world, env: { ...ENV, ...env } });
};

describe('colours', () => {
  it('are on a terminal, after escape codes of the server are made harmless', async () => {
    const { stdout } = await list({ terminal: 80 });
    expect(stdout).toContain('\u001b[1mid');
    expect(stdout).toContain('One\ufffd[31m');
  });

  it.each<[string, World, string[]]>([
    ['in a pipe', {}, ['--format', 'table']],
    ['with NO_COLOR', { terminal: 80, env: { NO_COLOR: '1' } }, []],
    ['on a dumb terminal', { terminal: 80, env: { TERM: 'dumb' } }, []],
    ['in CSV', { terminal: 80 }, ['--csv']],
    ['in CSV in a pipe', {}, ['--csv']],
    ['in JSON', { terminal: 80 }, ['--json']],
  ])('are not %s', async (_, world, argv) => {
    const { stdout, exitCode } = await list(world, ...argv);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Two');
    expect(stdout).not.toContain('\u001b[1m');
    // What is not for eyes is passed on as it is, but to a terminal only harmless.
    expect(stdout.includes('One\u001b[31m')).toBe(world.terminal === undefined && argv.includes('--csv'));
  });

  it('are not in a file that a terminal asks for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'molar-colour-'));
    const file = join(folder, 'patients.txt');
    await list({ terminal: 80 }, '--format', 'table', '--out', file);
    const text = readFileSync(file, 'utf8');
    rmSync(folder, { recursive: true });
    expect(text).toContain('Two');
    expect(text).not.toContain('\u001b');
  });

  it.each([
    ['has', { terminal: 80 }, true],
    ['has no', {}, false],
  ])('a record %s', async (_, world, has) => {
    const script = new ListScript(success({ id: 1, lastName: 'One' }));
    const argv = ['1', '--format', 'table'];
    const { stdout } = await runCommand('patients:get', PatientsGet, argv, { script, ...world, env: ENV });
    expect(stdout.includes('\u001b[1mlastName\u001b[22m')).toBe(has);
    expect(stdout).toContain('One');
  });

  it.each<[string, World]>([
    ['in a pipe', {}],
    [
      'in a pipe of a service that builds, which oclif would colour',
      { env: { GITHUB_ACTIONS: 'true', FORCE_COLOR: '1' } },
    ],
    ['with NO_COLOR', { terminal: 80, env: { NO_COLOR: '1' } }],
  ])('are not in help %s', async (_, { env, ...world }) => {
    const all = { ...world, env: { ...ENV, ...env } };
    const { stdout } = await runCommand('help', HelpOnCommands, ['patients', 'list'], all);
    expect(stdout).toContain('EXAMPLES');
    expect(stdout).not.toContain('\u001b');
  });
});
