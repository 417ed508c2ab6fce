import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import NamesEdit from '../../../src/commands/names/edit.ts';
import NamesImport from '../../../src/commands/names/import.ts';
import NamesLearn from '../../../src/commands/names/learn.ts';
import NamesList from '../../../src/commands/names/list.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { problem, success } from '../../core/transport/script.ts';
import { need } from '../../support/capabilities.ts';
import { runCommand, type World } from '../runcommand.ts';
import { editor, namesEnv } from './namesenv.ts';

const TEXT = `kind,id,name,timezone,order
location,5,Main Street,America/Denver,1
location,9007199254740993,"Lake, left",,
provider,12,'=Rae,,
`;

type Env = Readonly<Record<string, string>>;
const fileOf = (env: Env) => join(env.MOLAR_CONFIG_DIR ?? '', 'names', 'default.csv');
const textOf = (env: Env) => readFileSync(fileOf(env), 'utf8');
const runs = (id: string, command: unknown) => (argv: readonly string[], world: World) =>
  runCommand(id, command, argv, world);
const [list, learn, imported, edit] = [
  runs('names:list', NamesList),
  runs('names:learn', NamesLearn),
  runs('names:import', NamesImport),
  runs('names:edit', NamesEdit),
];

describe('names list', () => {
  it('has every row, ids exact', async () => {
    const env = namesEnv(TEXT);
    expect((await list(['--csv'], { env })).stdout).toBe(TEXT);
    expect((await list(['--format', 'ndjson', '--kind', 'location', '--limit', '2'], { env })).stdout).toBe(
      '{"kind":"location","id":5,"name":"Main Street","timezone":"America/Denver","order":1}\n' +
        '{"kind":"location","id":9007199254740993,"name":"Lake, left","timezone":null,"order":null}\n',
    );
    expect((await list(['--csv', '--sort=-id', '--fields', 'id', '--no-header'], { env })).stdout).toBe(
      '9007199254740993\n12\n5\n',
    );
  });

  it('is read back by import', async () => {
    const [from, to] = [namesEnv(TEXT), namesEnv('kind,id,name\n')];
    const { stdout } = await list(['--csv'], { env: from });
    expect(await imported(['-'], { env: to, stdin: stdout })).toMatchObject({ exitCode: 0, stdout: '' });
    expect(textOf(to)).toBe(TEXT);
  });
});

describe('names import', () => {
  it('replaces rows by kind and id, and with --replace drops the rest', async () => {
    const env = namesEnv(TEXT);
    const stdin = 'name,kind,id,order,timezone\nMain,location,5,,\nRoom,operatory,5,,\n';
    expect((await imported(['-'], { env, stdin })).stderr).toBe('1 added, 1 changed, 0 removed.\n');
    expect(textOf(env).split('\n').slice(1)).toEqual([
      'location,5,Main,,',
      'location,9007199254740993,"Lake, left",,',
      "provider,12,'=Rae,,",
      'operatory,5,Room,,',
      '',
    ]);
    expect((await imported(['-', '--replace'], { env, stdin })).stderr).toBe('0 added, 0 changed, 2 removed.\n');
    expect((await imported(['-', '--replace'], { env, stdin })).stderr).toBe('Nothing changed.\n');
  });

  it('keeps what a column that is missing would tell, but with --replace', async () => {
    const env = namesEnv(TEXT);
    await imported(['-'], { env, stdin: 'kind,id,name\nlocation,5,Main\nlocation,8,New\n' });
    expect(textOf(env)).toContain('\nlocation,5,Main,America/Denver,1\nlocation,8,New,,\n');
    await imported(['-'], { env, stdin: 'kind,id,name,order\nlocation,05,Main,\n' });
    expect(textOf(env)).toContain('\nlocation,5,Main,America/Denver,\n');
    await imported(['-'], { env, stdin: 'kind,id,name,timezone\nlocation,5,,\nlocation,8,New,UTC\n' });
    expect(textOf(env)).toContain('\nlocation,5,,,\nlocation,8,New,UTC,\n');
    await imported(['-', '--replace'], { env, stdin: 'kind,id,name\nlocation,8,New\n' });
    expect(textOf(env)).toBe('kind,id,name,timezone,order\nlocation,8,New,,\n');
  });

  it('refuses a bad row with its line, and changes nothing', async () => {
    const env = namesEnv(TEXT);
    const file = join(mkdtempSync(join(tmpdir(), 'molar-names-')), 'new.csv');
    writeFileSync(file, 'kind,id,name,timezone\nlocation,6,Lake,\nlocation,7,Bay,Denver\n');
    const ran = await imported([file, '--replace'], { env });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(`${file}, line 3: timezone must be an IANA time zone`);
    expect(textOf(env)).toBe(TEXT);
  });
});

describe('names in another encoding than UTF-8', () => {
  const latin = Buffer.from('kind,id,name\nlocation,5,Caf\xe9\n', 'latin1');

  it('are refused by import, and nothing changes', async () => {
    const env = namesEnv(TEXT);
    const file = join(mkdtempSync(join(tmpdir(), 'molar-names-')), 'new.csv');
    writeFileSync(file, latin);
    for (const [source, label] of [[file, file] as const, ['-', 'standard input'] as const]) {
      const ran = await imported([source], { env, stdin: latin });
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
      expect(ran.stderr).toContain(`${label} cannot be read as text: byte 28, in line 2, is 0xE9, which is not UTF-8.`);
    }
    expect(textOf(env)).toBe(TEXT);
  });

  it('are kept as the editor left them', async (context) => {
    need(context, 'posixShell');
    const EDITOR = editor('printf \'kind,id,name\\nlocation,5,Caf\\351\\n\' >"$2"');
    const env = namesEnv(TEXT, { EDITOR, PATH: process.env.PATH ?? '' });
    const ran = await edit([], { env });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('which is not UTF-8.');
    const kept = /import (.*) --replace/.exec(ran.stderr)?.[1] ?? '';
    expect(readFileSync(kept)).toEqual(latin);
    expect(textOf(env)).toBe(TEXT);
  });
});

describe('names edit', () => {
  it('changes what is given of one row, and adds a row', async () => {
    const env = namesEnv(TEXT);
    await edit(['location', 'main street', '--order', '', '--name', 'Main'], { env });
    await edit(['Provider', '7', '--name', ' Dr. Ång '], { env });
    expect(textOf(env).split('\n').slice(1)).toEqual([
      'location,5,Main,America/Denver,',
      'location,9007199254740993,"Lake, left",,',
      'provider,7,Dr. Ång,,',
      "provider,12,'=Rae,,",
      '',
    ]);
  });

  it('takes a time zone away', async () => {
    const env = namesEnv(TEXT);
    expect((await edit(['location', '5', '--timezone', ''], { env })).stderr).toBe('0 added, 1 changed, 0 removed.\n');
    expect(textOf(env)).toBe(TEXT.replace('America/Denver', ''));
  });

  it.each([
    [['room', '5', '--name', 'A'], 'KIND must be one of location, provider, operatory.'],
    [['locaton', '5', '--name', 'A'], 'Did you mean location?'],
    [['location', '--name', 'A'], 'ID is missing'],
    [['location', '0', '--name', 'Zero'], 'ID must be a positive integer, or a name.'],
    [['location', '12345678901234567890', '--name', 'A'], 'ID must be a positive integer, or a name.'],
    [['location', '5'], 'There is nothing to change'],
    [['location', 'Harbour', '--name', 'A'], 'no location is named "Harbour"'],
    [['provider', '5', '--timezone', 'UTC'], '--timezone must be empty for a provider'],
    [['location', '5', '--timezone', 'Denver'], '--timezone must be an IANA time zone'],
    [['location', '5', '--order', 'first'], '--order must be a whole number'],
    [['--name', 'A'], '--name needs KIND and ID'],
    [[], 'No editor is named in VISUAL or EDITOR.'],
  ])('refuses %j', async (argv, message) => {
    const env = namesEnv(TEXT, { VISUAL: '', EDITOR: '' });
    const ran = await edit(argv, { env });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(message);
    expect(textOf(env)).toBe(TEXT);
  });

  const left = (env: Env) => readdirSync(join(env.MOLAR_CONFIG_DIR ?? '', 'names'));

  it('opens the file in an editor', async (context) => {
    need(context, 'posixShell');
    const env = namesEnv(TEXT, { EDITOR: editor('sed -i "s/Main Street/Main/" "$2"'), PATH: process.env.PATH ?? '' });
    expect(await edit([], { env })).toEqual({ exitCode: 0, stdout: '', stderr: '0 added, 1 changed, 0 removed.\n' });
    expect(textOf(env)).toBe(TEXT.replace('Main Street', 'Main'));
    expect(left(env)).toEqual(['default.csv']);
  });

  it('keeps an edited text with a mistake, and changes nothing', async (context) => {
    need(context, 'posixShell');
    const env = namesEnv(TEXT, { VISUAL: editor('echo "room,1,A" >>"$2"'), PATH: process.env.PATH ?? '' });
    const ran = await edit([], { env });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain('line 5: kind must be one of');
    const kept = /import (.*) --replace/.exec(ran.stderr)?.[1] ?? '';
    expect(readFileSync(kept, 'utf8')).toBe(`${TEXT}room,1,A\n`);
    expect(textOf(env)).toBe(TEXT);
  });

  it('changes nothing after an editor that failed', async (context) => {
    need(context, 'posixShell');
    const env = namesEnv(TEXT, { EDITOR: editor('echo >"$2"; exit 3'), PATH: process.env.PATH ?? '' });
    expect(await edit([], { env })).toMatchObject({ exitCode: 9, stdout: '' });
    expect([textOf(env), left(env)]).toEqual([TEXT, ['default.csv']]);
  });
});

describe('names learn', () => {
  /** A service of a few lists that ignores filters and pages by `lastId` or `page`. */
  const service = (
    lists: Readonly<Record<string, readonly { readonly id: number }[]>>,
    other = () => problem(403, 'access.scope', null, 'Not allowed.'),
  ) => {
    const requests: string[] = [];
    const send = async ({ url }: OutgoingRequest) => {
      requests.push(url);
      const { pathname, searchParams } = new URL(url);
      const rows = lists[pathname.replace('/api/v1/', '')];
      // As a service that follows the specification: the list of these is of one location.
      if (pathname.endsWith('/scheduletemplatereasons'))
        return problem(400, 'filter.missing', 'location.id', 'Required.');
      if (rows === undefined) return other();
      const [after, size] = [Number(searchParams.get('lastId')), Number(searchParams.get('pageSize'))];
      const page = Number(searchParams.get('page') ?? 1);
      return success(rows.filter(({ id }) => id > after).slice((page - 1) * size, page * size));
    };
    return { requests, script: { send } as never };
  };

  const filterOf = (url: string) => new URL(url).searchParams.get('filter') ?? '';

  it('adds the ids that records show, and changes no row that is there', async () => {
    const env = namesEnv(TEXT);
    const { script } = service({
      patients: [{ id: 1, preferredLocation: { id: 5 }, primaryProvider: { id: 30 } } as never],
      appointments: [
        { id: 2, location: { id: 8 }, provider: { id: 12 }, operatory: { id: 4 } } as never,
        { id: 3, location: null, provider: { id: 30 } } as never,
      ],
    });
    const ran = await learn([], { env, script });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toBe('3 new: 1 location, 1 provider, 1 operatory\n');
    expect(ran.stderr).toContain('Not read: ');
    expect(textOf(env).split('\n').slice(1)).toEqual([
      'location,5,Main Street,America/Denver,1',
      'location,8,,,',
      'location,9007199254740993,"Lake, left",,',
      "provider,12,'=Rae,,",
      'provider,30,,,',
      'operatory,4,,,',
      '',
    ]);
    expect((await learn(['--json'], { env, script })).stdout).toBe(
      `${JSON.stringify({ file: fileOf(env), added: 0, locations: 0, providers: 0, operatories: 0 })}\n`,
    );
  });

  it('sends few requests, however many records there are', async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => ({ id: at + 1, location: { id: 8 } }));
    const names = ['patients', 'appointments', 'events', 'transactions', 'appointmenthistories', 'missedappointments'];
    const { requests, script } = service(Object.fromEntries(names.map((name) => [name, many])));
    const env = namesEnv('kind,id,name\n');
    const ran = await learn([], { env, script });
    expect(ran.stdout).toBe('1 new: 1 location, 0 providers, 0 operatories\n');
    expect(ran.stderr).toContain('Only part of these was read');
    expect(requests.length).toBeLessThanOrEqual(80);
    // Where there are more, also those that changed in the last 90 days.
    for (const name of ['patients', 'appointments', 'events']) {
      const asked = requests.filter((url) => new URL(url).pathname === `/api/v1/${name}`).map(filterOf);
      expect(asked.join()).toMatch(/(?:lastModified|start)>=2025-12-02T00:00:00Z/);
    }
  });

  it.each([
    [403, 'access.scope'],
    [404, 'route.unknown'],
    [405, 'route.method'],
  ])('goes on without a list that is refused with %i', async (status, code) => {
    const { script } = service({ patients: [{ id: 1, preferredLocation: { id: 8 } } as never] }, () =>
      problem(status, code, null, 'Not here.'),
    );
    const ran = await learn([], { env: namesEnv('kind,id,name\n'), script });
    expect(ran).toMatchObject({ exitCode: 0, stdout: '1 new: 1 location, 0 providers, 0 operatories\n' });
    expect(ran.stderr).toMatch(/^Not read: (?:[^\n]+\(.*Not here\.\))/);
  });

  it.each([
    [401, 'auth.token_expired', 3],
    [501, 'x', 8],
  ])('ends where a list is answered with %i', async (status, code, exitCode) => {
    const env = namesEnv(TEXT);
    const { script } = service({}, () => problem(status, code, null, 'No.'));
    expect(await learn([], { env, script })).toMatchObject({ exitCode, stdout: '' });
    expect(textOf(env)).toBe(TEXT);
  });

  it('leaves the file as it was when the connection fails', async () => {
    const env = { ...namesEnv(TEXT), MOLAR_TOKEN: '' };
    expect((await learn([], { env })).exitCode).toBe(2);
    expect(textOf(env)).toBe(TEXT);
    const missing = join(tmpdir(), 'no-such-mirror.db');
    expect((await learn(['--from', missing], { env })).exitCode).toBe(4);
    expect(existsSync(missing)).toBe(false);
  });
});
