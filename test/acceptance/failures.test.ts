import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, type Ended, molar, PATIENT, READER } from './molar.ts';
import { practiceHere } from './servedpractice.ts';

const practice = practiceHere(20);

beforeAll(() => mkdir(join(practice.path, 'folder')));

type Env = Record<string, string>;
interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly exit: number;
  /** What is asked of the program: all that is told before a command runs, and what people see with each exit code. */
  readonly built?: 'always' | 'for people';
  readonly env?: (env: Env) => Env;
  readonly source?: string;
  readonly says: RegExp;
  /** What the next step must say. */
  readonly next?: RegExp;
}

const CASES: readonly Case[] = [
  { name: 'unknown command', args: ['patients', 'lst'], exit: 2, built: 'always', says: /patients list/ },
  {
    name: 'topic alone',
    args: ['patients', '--quiet'],
    exit: 2,
    built: 'always',
    says: /needs a command after it: .*list/,
  },
  {
    name: 'flags alone',
    args: ['--profile', 'x', 'patients', 'list'],
    exit: 2,
    built: 'always',
    says: /The command comes first/,
  },
  {
    name: 'unknown topic',
    args: ['patient', 'list'],
    exit: 2,
    built: 'always',
    says: /Did you mean molar patients list\?/,
  },
  { name: 'unknown flag', args: ['patients', 'list', '--fitler', 'x'], exit: 2, says: /--filter/ },
  {
    name: 'missing argument',
    args: ['patients', 'get'],
    exit: 2,
    says: /missing/,
    next: /molar patients get \d+/,
  },
  {
    name: 'missing flag',
    args: ['agingbalances', 'report'],
    exit: 2,
    source: '--location',
    says: /--location is required/,
    next: /Give --location\. Example: molar agingbalances report --location/,
  },
  {
    name: 'value that is not listed',
    args: ['patients', 'list', '--status', 'ACTVE'],
    exit: 2,
    source: '--status',
    says: /NEW, ACTIVE/,
    next: /Did you mean ACTIVE\?/,
  },
  {
    name: 'two formats',
    args: ['patients', 'list', '--csv', '--format', 'ndjson'],
    exit: 2,
    says: /different formats/,
    next: /molar patients list --help/,
  },
  {
    name: 'unknown filter key',
    args: ['patients', 'list', '--filter', 'lastNam==x'],
    exit: 2,
    source: 'lastNam',
    says: /lastName/,
  },
  {
    name: 'unsupported operator',
    args: ['patients', 'list', '--filter', 'gender~=M'],
    exit: 2,
    source: 'gender',
    says: /== !=/,
  },
  { name: 'unknown field', args: ['patients', 'list', '--fields', 'nosuch'], exit: 2, says: /nosuch/ },
  { name: 'delete without --yes', args: ['documents', 'delete', '1'], exit: 2, says: /--yes/ },
  {
    name: 'unknown token',
    args: ['patients', 'list'],
    exit: 3,
    built: 'for people',
    env: (env) => ({ ...env, MOLAR_TOKEN: 'wrong' }),
    says: /token/i,
    next: /molar login/,
  },
  {
    name: 'other organization',
    args: ['patients', 'list'],
    exit: 3,
    env: (env) => ({ ...env, MOLAR_ORGANIZATION: 'other' }),
    source: 'Organization-ID',
    says: /organization/i,
    next: /MOLAR_ORGANIZATION/,
  },
  {
    name: 'missing scope',
    args: ['patients', 'update', String(PATIENT), '--city', 'X'],
    exit: 3,
    env: (env) => ({ ...env, MOLAR_TOKEN: READER }),
    says: /model:write/,
  },
  { name: 'missing record', args: ['patients', 'get', '1'], exit: 4, built: 'for people', says: /no patient 1/ },
  {
    name: 'refused by the server',
    args: ['patients', 'update', String(PATIENT), '--preferred-location', '99'],
    exit: 5,
    built: 'for people',
    source: 'preferredLocation.id',
    says: /no Location 99/,
  },
  {
    name: 'server down',
    args: ['patients', 'list', '--max-retries', '0'],
    exit: 8,
    built: 'for people',
    env: (env) => ({ ...env, MOLAR_URL: 'http://127.0.0.1:1' }),
    says: /127\.0\.0\.1:1/,
  },
  {
    name: 'name that does not exist',
    args: ['patients', 'list', '--max-retries', '0'],
    exit: 8,
    env: (env) => ({ ...env, MOLAR_URL: 'https://no-such-host.invalid' }),
    says: /no-such-host\.invalid/,
    next: /molar doctor/,
  },
  {
    name: 'https where there is none',
    args: ['patients', 'list', '--max-retries', '0'],
    exit: 8,
    env: (env) => ({ ...env, MOLAR_URL: practice.url.replace('http:', 'https:') }),
    says: /Not an https:\/\/ server: 127/,
    next: /molar doctor/,
  },
  {
    name: 'address that is not the API',
    args: ['patients', 'list'],
    exit: 4,
    env: (env) => ({ ...env, MOLAR_URL: `${practice.url}/elsewhere` }),
    says: /404/,
    next: /MOLAR_URL/,
  },
  {
    name: 'output that cannot be written',
    args: ['patients', 'list', '--out', 'folder'],
    exit: 9,
    built: 'for people',
    says: /folder/,
  },
  {
    name: 'token over plain http',
    args: ['patients', 'list'],
    exit: 2,
    env: (env) => ({ ...env, MOLAR_URL: 'http://api.example.com' }),
    says: /http/,
  },
  {
    name: 'nothing to connect to',
    args: ['patients', 'list'],
    exit: 2,
    env: () => ({}),
    says: /MOLAR_URL/,
    next: /molar login/,
  },
];

function run({ env = (given) => given }: Case, args: readonly string[], isBuilt: boolean): Promise<Ended> {
  return (isBuilt ? molar : molarIn)(practice.path, args, env({ ...connection(practice.url) }));
}

describe.each(CASES)('$name', (entry) => {
  test('for people: exit code, cause and a next step on stderr, nothing on stdout', async () => {
    const ended = await run(entry, entry.args, entry.built !== undefined);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: entry.exit, stdout: '' });
    expect(ended.stderr).toMatch(entry.says);
    expect(ended.stderr).toMatch(/^Error: /);
    expect(ended.stderr).toMatch(/\nNext: /);
    if (entry.next !== undefined) expect(ended.stderr.split('\nNext: ')[1]).toMatch(entry.next);
    expectNoSecrets(ended);
  });

  test('with --json: one object on stderr, the same exit code, nothing on stdout', async () => {
    const ended = await run(entry, [...entry.args, '--json'], entry.built === 'always');
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: entry.exit, stdout: '' });
    const { error } = JSON.parse(ended.stderr) as { error: Record<string, unknown> };
    expect(Object.keys(error)).toEqual(['code', 'message', 'exitCode', 'status', 'requestId', 'errors', 'hint']);
    expect(error.exitCode).toBe(entry.exit);
    if (entry.next !== undefined) expect(error.hint).toMatch(entry.next);
    if (entry.source !== undefined) {
      expect((error.errors as { source: string }[]).map(({ source }) => source)).toContain(entry.source);
    }
    expectNoSecrets(ended);
  });
});

function expectNoSecrets({ stderr }: Ended): void {
  expect(stderr).not.toContain('acceptance-token');
  expect(stderr).not.toMatch(/^\s+at .+:\d+/m);
}

test('a file that --out was to replace is untouched when the export fails', async () => {
  await writeFile(join(practice.path, 'kept.csv'), 'before\n');
  const env = { ...connection(practice.url), MOLAR_TOKEN: 'wrong' };
  expect((await molarIn(practice.path, ['patients', 'list', '--out', 'kept.csv'], env)).code).toBe(3);
  expect(await readFile(join(practice.path, 'kept.csv'), 'utf8')).toBe('before\n');
});
