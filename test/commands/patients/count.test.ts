import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import ConfigSet from '../../../src/commands/config/set.ts';
import DocumentsCount from '../../../src/commands/documents/count.ts';
import PatientsCount from '../../../src/commands/patients/count.ts';
import { runCommand } from '../../cli/runcommand.ts';
import { Script, success } from '../../core/transport/script.ts';

describe('count', () => {
  it.each([
    ['patients', PatientsCount, { total: 5, totalCount: 5 }],
    ['documents', DocumentsCount, { totalCount: 5 }],
    ['under the other name', PatientsCount, { total: 5 }],
  ])('of %s prints the number', async (_name, command, data) => {
    const script = new Script(success(data), success(data));
    expect(await runCommand('count', command, [], { script })).toEqual({ exitCode: 0, stdout: '5\n', stderr: '' });
  });

  it('sends the filter', async () => {
    const script = new Script(success({ total: 0 }), success({ total: 0 }));
    await runCommand('patients:count', PatientsCount, ['--status', 'ACTIVE'], { script });
    expect(script.queries).toEqual([
      { filter: 'patientStatus==ACTIVE,lastModified>=0001-01-01T00:00:00Z' },
      { filter: 'patientStatus==ACTIVE' },
    ]);
  });

  it('warns of a value that only quotes can hold', async () => {
    const script = new Script(success({ total: 0 }), success({ total: 0 }));
    const ran = await runCommand('patients:count', PatientsCount, ['--last-name', 'O, Brien'], { script });
    expect(ran.stderr).toMatch(/^Warning: a value of lastName~= can only be sent in double quotes, [^\n]*\n$/);
  });

  it.each<[string, readonly string[], string]>([
    ['the zone of --timezone', ['--timezone', 'Asia/Tokyo'], '2025-12-31T15:00:00Z'],
    ['the configured zone', [], '2026-01-01T05:00:00Z'],
  ])('takes a date in %s', async (_name, argv, instant) => {
    const folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const env = { TZ: 'America/Denver', MOLAR_CONFIG_DIR: folder };
    await runCommand('config:set', ConfigSet, ['timezone', 'America/New_York'], { env });
    const script = new Script(success({ total: 0 }));
    const ran = await runCommand('patients:count', PatientsCount, ['--modified-since', '2026-01-01', ...argv], {
      script,
      env,
    });
    expect([ran.stderr, script.queries[0]]).toEqual(['', { filter: `lastModified>=${instant}` }]);
  });

  it("takes a date in this computer's zone where none is named, and says so unless a program reads", async () => {
    const script = new Script(success({ total: 0 }), success({ total: 0 }));
    const world = { script, env: { TZ: 'America/Denver' } };
    const argv = ['--modified-since', '2026-01-01'];
    expect((await runCommand('patients:count', PatientsCount, argv, world)).stderr).toMatch(
      /^Dates and times without a zone are taken in America\/Denver, [^\n]*\n$/,
    );
    expect((await runCommand('patients:count', PatientsCount, [...argv, '--json'], world)).stderr).toBe('');
    expect(script.queries[1]).toEqual({ filter: 'lastModified>=2026-01-01T07:00:00Z' });
  });

  it('prints what the API answers as JSON', async () => {
    const script = new Script(success({ total: 5, totalCount: 5 }), success({ total: 5, totalCount: 5 }));
    const ran = await runCommand('patients:count', PatientsCount, ['--json'], { script });
    expect(ran.stdout).toBe('{"total":5,"totalCount":5}\n');
  });

  it('fails without a number', async () => {
    const script = new Script(success({}));
    expect(await runCommand('patients:count', PatientsCount, [], { script })).toMatchObject({
      exitCode: 8,
      stdout: '',
    });
  });
});
