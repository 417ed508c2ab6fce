import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfiguration } from '../../../src/cli/serving/configfile.ts';
import Serve from '../../../src/commands/serve.ts';
import { ROOT } from '../../house/tree.ts';
import { jsonFailure, runCommand } from '../runcommand.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(text: string, name = 'molar.toml'): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const read = async (text: string, typed = {}, env = {}, name = 'molar.toml') =>
  readConfiguration(await fileOf(text, name), Serve.flags, typed, env);

/** The flags of serve as test/house/commands.txt pins them: `--port option`. */
async function pinnedFlags(): Promise<[name: string, kind: string][]> {
  const lines = (await readFile(join(ROOT, 'test/house/commands.txt'), 'utf8')).split('\n');
  const rest = lines.slice(lines.indexOf('molar serve') + 1);
  const own = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('  --')),
  );
  return own.map((line) => line.trim().slice(2).split(/ (.*)/, 2) as [string, string]);
}

/** Flags whose help calls their value a number of something. */
const NUMBERS =
  /^(?:port|request-timeout|drain-time|rate-limit|aging-page-limit|.*-retention|max-(?:document-size|text|async|answer-bytes|images|image-pixels|connections))$/;

/** A value in TOML of a flag's own type, and what typing it would have given. */
function valueFor(name: string, kind: string): readonly [toml: string, parsed: unknown] {
  const [, option] = /one-of:(\w+)/.exec(kind) ?? [];
  if (kind === 'boolean') return ['true', true];
  if (kind.includes('repeatable')) return ['["a", "b"]', ['a', 'b']];
  if (option !== undefined) return [`"${option}"`, option];
  return NUMBERS.test(name) ? ['7', '7'] : ['"text"', 'text'];
}

describe('a configuration file', () => {
  it('has a key for every flag, of the type of the flag', async () => {
    const flags = (await pinnedFlags()).filter(([name]) => name !== 'config');
    expect(flags.length).toBeGreaterThan(30);
    for (const [name, kind] of flags) {
      const [toml, parsed] = valueFor(name, kind);
      expect((await read(`${name} = ${toml}`)).flags, name).toEqual({ [name]: parsed });
      for (const other of ['true', '7', '"text"', '1.5', '2026-11-21', '[7]', '{ a = "b" }', '{ env = 7 }']) {
        if (other === toml) continue;
        const naming = new RegExp(`molar\\.toml: ${name} must be `);
        await expect(read(`${name} = ${other}`), `${name} = ${other}`).rejects.toThrow(naming);
      }
    }
  });

  it('is overridden by flags, also by one that excludes a key', async () => {
    const text = 'port = 1\nhost = "::1"\nbehind-proxy = false\ndatabase = { env = "NOT_SET" }';
    const { flags } = await read(text, { port: '2', data: 'd', 'behind-proxy': true });
    expect(flags).toEqual({ host: '::1' });
  });

  it('may be JSON', async () => {
    const text = '{"port": 7, "import": ["a"], "secrets": {"PGPASSWORD": {"env": "P"}}}';
    const { flags, secrets } = await read(text, {}, { P: 's3cret' }, 'molar.json');
    expect({ flags, secrets }).toEqual({ flags: { port: '7', import: ['a'] }, secrets: { PGPASSWORD: 's3cret' } });
  });

  it('refers to values that are elsewhere', async () => {
    const secret = await fileOf('from a file\n', 'secret');
    const text = `amqp = { env = "BROKER" }\nport = { env = "PORT" }\n[secrets]\nMOLAR_AMQP_PASSWORD = { file = '${secret}' }`;
    const { flags, secrets } = await read(text, {}, { BROKER: 'amqps://mq', PORT: '0' });
    expect(flags).toEqual({ amqp: 'amqps://mq', port: '0' });
    expect(secrets).toEqual({ MOLAR_AMQP_PASSWORD: 'from a file' });
  });

  it.each([
    ['an unknown key', 'rate_limit = 7', 'rate_limit', 'has no setting rate_limit. Did you mean rate-limit?'],
    ['a key that names another file', 'config = "a"', 'config', 'has no setting config.'],
    ['a name of JavaScript', 'constructor = "a"', 'constructor', 'has no setting constructor.'],
    ['a value that a flag refuses', 'port = 70000', '--port', '--port must be a whole number, 0 to 65535.'],
    ['a word that is none of its words', 'audit = "strikt"', 'audit', 'one of strict, buffered. Did you mean strict?'],
    ['two that exclude each other', 'data = "d"\ndatabase = "x"', 'database', 'database and data exclude each other.'],
    ['what goes together', 'tls-key = "k"', '--tls-cert', '--tls-cert is missing.', 'at the command'],
    ['a secret in plain text', '[secrets]\nPGPASSWORD = "x"', 'secrets.PGPASSWORD', 'must say where the secret is'],
    ['a password in an address', 'database = "postgres://u:x@h/d"', 'database', 'database has a password in it'],
    [
      'a password behind an address',
      'database = "postgres://h/d?password=x"',
      'database',
      'database has a password in it',
    ],
    ['an unknown secret', '[secrets]\nPGPASWORD = { env = "P" }', 'secrets.PGPASWORD', 'Did you mean PGPASSWORD?'],
    ['secrets that are no table', 'secrets = 7', 'secrets', 'secrets must be a table.'],
    ['a variable that is not set', 'host = { env = "NOT_SET_HERE" }', 'host', 'NOT_SET_HERE, which is not set.'],
    [
      'a file that is not there',
      'host = { file = "/nowhere/x" }',
      'host',
      '/nowhere/x, which cannot be read (ENOENT).',
    ],
    ['two references in one', 'host = { env = "A", file = "B" }', 'host', 'host must be a text.'],
    ['what is no TOML', 'port = 7\nsecret word', '--config', 'is not TOML (line 2, column '],
    ['a key that is there twice', 'port = 7\nport = 8', '--config', 'is not TOML (line 2, column '],
  ])('with %s is refused, and file and key are named', async (_name, text, source, message, where = 'in the file') => {
    const path = await fileOf(text);
    const ran = await runCommand('serve', Serve, ['--json', '--config', path]);
    const { exitCode, errors, ...failure } = jsonFailure(ran) as {
      exitCode: number;
      errors: { source: string }[];
      message: string;
    };
    expect(exitCode).toBe(2);
    expect(failure.message).toContain(message);
    if (where === 'in the file') expect(failure.message).toContain(path);
    const isFlag = source.startsWith('--');
    expect(errors.map((error) => error.source)).toEqual([isFlag ? source : `${path}, ${source}`]);
    expect(ran.stderr).not.toContain('secret word');
  });

  it('that is not there is refused', async () => {
    const ran = await runCommand('serve', Serve, ['--json', '--config', join(folder, 'nowhere.toml')]);
    expect(jsonFailure(ran)).toMatchObject({ exitCode: 2, message: expect.stringContaining('nowhere.toml') });
  });
});
