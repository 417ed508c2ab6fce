import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import ConfigGet from '../../../src/commands/config/get.ts';
import ConfigSet from '../../../src/commands/config/set.ts';
import { CONFIG_KEYS } from '../../../src/core/profiles/defaults.ts';
import { type Ran, runCommand } from '../runcommand.ts';

const COMMANDS = { get: ConfigGet, set: ConfigSet };

async function shell() {
  const folder = await mkdtemp(join(tmpdir(), 'molar-config-'));
  const config = (verb: keyof typeof COMMANDS, ...argv: string[]): Promise<Ran> =>
    runCommand(`config:${verb}`, COMMANDS[verb], argv, { env: { MOLAR_CONFIG_DIR: folder } });
  return { config };
}

describe('config', () => {
  it('names every key in the help of set', () => {
    for (const { key } of CONFIG_KEYS) expect(ConfigSet.description).toContain(key);
  });

  it('makes the path of certificates whole', async () => {
    const { config } = await shell();
    await config('set', 'caCert', 'ca.pem');
    expect((await config('get', 'caCert')).stdout).toBe(`${resolve('ca.pem')}\n`);
  });

  it.each<[string, Parameters<Awaited<ReturnType<typeof shell>>['config']>, string, string]>([
    ['an unknown key', ['set', 'foramt', 'csv'], 'Keys: profile, format', 'Did you mean format?'],
    ['a key like none', ['get', 'zzzzzz'], 'Keys: profile, format', 'molar config list'],
    ['a wrong value', ['set', 'format', 'cvs'], 'format must be one of table, json, ndjson, csv.', 'config set --help'],
    ['a number too large', ['set', 'pageSize', '501'], 'a whole number, 1 to 500', 'config set --help'],
    ['a profile that is not there', ['set', 'profile', 'work'], 'a profile: there is none', 'config set --help'],
    ['no key', ['get'], 'KEY is missing.', 'Give KEY. Example: molar config get'],
  ])('refuses %s', async (_name, argv, message, next) => {
    const { config } = await shell();
    const ran = await config(...argv);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(ran.stderr.split('\nNext: ')[1]).toContain(next);
  });
});
