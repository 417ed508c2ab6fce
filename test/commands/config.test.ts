import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import ConfigGet from '../../src/commands/config/get.ts';
import ConfigList from '../../src/commands/config/list.ts';
import ConfigPath from '../../src/commands/config/path.ts';
import ConfigSet from '../../src/commands/config/set.ts';
import ConfigUnset from '../../src/commands/config/unset.ts';
import ProductionReport from '../../src/commands/locationproductionnetschedule/report.ts';
import PatientsList from '../../src/commands/patients/list.ts';
import { runCommand } from '../cli/runcommand.ts';
import { ListScript, Script, success } from '../core/transport/script.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { configFolder } from './connecting.ts';

const config = configFolder();
const folder = () => ({ MOLAR_CONFIG_DIR: config.env().MOLAR_CONFIG_DIR ?? '' });
const run = (verb: string, command: unknown, argv: readonly string[]) =>
  runCommand(`config:${verb}`, command, argv, { env: folder() });
const set = (key: string, value: string) => run('set', ConfigSet, [key, value]);

describe('molar config', () => {
  it('sets, gets, lists and unsets', async () => {
    expect(await set('format', 'json')).toMatchObject({ exitCode: 0, stdout: '' });
    expect((await run('get', ConfigGet, ['format'])).stdout).toBe('json\n');
    const listed = JSON.parse((await run('list', ConfigList, ['--json'])).stdout);
    expect(listed.map(({ key, value }: Record<string, unknown>) => [key, value])).toEqual([
      ['profile', null],
      ['format', 'json'],
      ['pageSize', null],
      ['maxRetries', null],
      ['caCert', null],
      ['timezone', null],
      ['releases', null],
    ]);
    expect(await config.mode()).toBe(OWNER_ONLY.file);
    expect((await run('unset', ConfigUnset, ['format'])).exitCode).toBe(0);
    expect(await run('get', ConfigGet, ['format'])).toMatchObject({ exitCode: 4, stdout: '' });
  });

  it('prints the path', async () => {
    expect((await run('path', ConfigPath, [])).stdout).toBe(`${config.file()}\n`);
  });

  it.each([
    ['colour', 'red', 'Keys: profile, format, pageSize, maxRetries, caCert, timezone, releases.'],
    ['format', 'yaml', 'format must be one of table, json'],
    ['pageSize', '0', 'pageSize must be a whole number, 1 to 500'],
    ['timezone', 'Denver', 'timezone must be an IANA time zone'],
    ['maxRetries', '1.5', 'maxRetries must be a whole number'],
    ['timezone', '+05:00', 'timezone must be an IANA time zone'],
    ['releases', 'http://example.com/molar', 'releases must be an https:// address'],
    ['releases', 'https://example.com/$(id)', 'releases must be an https:// address'],
    ['profile', 'nosuch', 'profile must be a profile'],
  ])('refuses %s %s', async (key, value, message) => {
    expect(await set(key, value)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
    expect(await config.exists()).toBe(false);
  });

  it('gives commands their defaults, which flags beat', async () => {
    await set('format', 'ndjson');
    await set('pageSize', '7');
    const list = async (argv: readonly string[]) => {
      const script = new ListScript(success([{ id: 1, firstName: 'Ann' }]), success([]));
      const { stdout } = await runCommand('patients:list', PatientsList, argv, { script, env: folder() });
      return [stdout.split('\n')[0], script.queries[0]?.pageSize];
    };
    expect(await list([])).toEqual(['{"id":1,"firstName":"Ann"}', '7']);
    expect(await list(['--csv', '--fields', 'id', '--page-size', '9'])).toEqual(['id', '9']);
    expect(await list(['--format', 'json'])).toEqual(['[', '7']);
  });

  it('gives tables their time zone, and the production report no filter', async () => {
    await set('timezone', 'America/Denver');
    const record = { id: 1, lastModified: '2026-11-24T15:00:00Z' };
    const script = new ListScript(success([record]), success([]));
    const argv = ['--fields', 'lastModified', '--format', 'table', '--no-header'];
    const ran = await runCommand('patients:list', PatientsList, argv, { script, env: folder() });
    expect(ran).toMatchObject({ stdout: '2026-11-24 08:00\n', stderr: 'Times in America/Denver.\n' });

    const production = new Script(success([{ date: '2026-11-24T15:00:00Z', scheduledAmount: 1 }]));
    const report = ['--from', '2026-11-24', '--csv'];
    await runCommand('report', ProductionReport, report, { script: production, env: folder() });
    expect(production.queries[0]?.filter).toBe('fromDate==2026-11-24');
  });

  it('exits 9 for a file that is not JSON, and does not touch it', async () => {
    await set('format', 'json');
    await writeFile(config.file(), '{');
    expect(await set('pageSize', '7')).toMatchObject({
      exitCode: 9,
      stderr: expect.stringContaining('not valid JSON'),
    });
    expect(await run('get', ConfigGet, ['format'])).toMatchObject({ exitCode: 9 });
  });
});
