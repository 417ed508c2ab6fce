import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import ConfigGet from '../../../src/commands/config/get.ts';
import ConfigSet from '../../../src/commands/config/set.ts';
import ConfigUnset from '../../../src/commands/config/unset.ts';
import { formatsFor } from '../../../src/core/output/formats.ts';
import { CONFIG_KEYS } from '../../../src/core/profiles/defaults.ts';
import { type Ran, runCommand } from '../runcommand.ts';

const COMMANDS = { get: ConfigGet, set: ConfigSet, unset: ConfigUnset };

async function shell() {
  const folder = await mkdtemp(join(tmpdir(), 'molar-config-'));
  const config = (verb: keyof typeof COMMANDS, ...argv: string[]): Promise<Ran> =>
    runCommand(`config:${verb}`, COMMANDS[verb], argv, { env: { MOLAR_CONFIG_DIR: folder } });
  return { config, path: join(folder, 'config.json') };
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

  it.each([
    ['pageSize', '1'],
    ['pageSize', '500'],
    ['maxRetries', '0'],
    ['maxRetries', '100'],
  ])('takes %s %s, which is the least or the most there is', async (key, value) => {
    const { config } = await shell();
    expect(await config('set', key, value)).toMatchObject({ exitCode: 0, stdout: '' });
    expect((await config('get', key)).stdout).toBe(`${value}\n`);
  });

  it('takes one key away and leaves the rest, profiles among it', async () => {
    const { config, path } = await shell();
    const work = { url: 'https://api.example.com', organization: 'o', secret: { kind: 'token', token: 't' } };
    const before = { profile: 'work', profiles: { work }, defaults: { format: 'json', pageSize: '7' } };
    await writeFile(path, JSON.stringify(before));
    expect((await config('unset', 'format')).exitCode).toBe(0);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ ...before, defaults: { pageSize: '7' } });
    expect((await config('unset', 'profile')).exitCode).toBe(0);
    const { profile: _, ...others } = before;
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ ...others, defaults: { pageSize: '7' } });
    expect(await config('get', 'profile')).toMatchObject({ exitCode: 4, stdout: '' });
  });

  it.each<[string, Parameters<Awaited<ReturnType<typeof shell>>['config']>, string, string]>([
    ['an unknown key', ['set', 'foramt', 'csv'], 'Keys: profile, format', 'Did you mean format?'],
    ['a key like none', ['get', 'zzzzzz'], 'Keys: profile, format', 'molar config list'],
    [
      'a wrong value',
      ['set', 'format', 'cvs'],
      `format must be one of ${formatsFor('record').join(', ')}.`,
      'config set --help',
    ],
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
