import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClosedPipe } from '../../../src/cli/terminal/streams.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { jsonFailure, runCommand, type World } from '../../cli/runcommand.ts';
import { answer, broken, ListScript, problem, success } from '../../core/transport/script.ts';

const list = (argv: readonly string[], world?: World) => runCommand('patients:list', PatientsList, argv, world);

const ann = { id: 7000000000114, lastName: 'Example', firstName: 'Ann', patientStatus: 'ACTIVE' };
const bob = { id: 7000000000115, lastName: 'O,Neil', firstName: '=Bob', patientStatus: 'NEW' };
const two = () => new ListScript(success([ann, bob]), success([]));
const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...ann, id: at + 1 }));
/** What asks for records of any age. */
const EVERYTHING = 'lastModified>=0001-01-01T00:00:00Z';
const FIELDS = ['--fields', 'id,lastName,firstName'];

describe('patients list in a pipe', () => {
  it('prints CSV of every page', async () => {
    const script = two();
    const ran = await list(FIELDS, { script });
    expect(ran).toEqual({
      exitCode: 0,
      stdout: `id,lastName,firstName\n7000000000114,Example,Ann\n7000000000115,"O,Neil",'=Bob\n`,
      stderr: '',
    });
    expect(script.queries).toEqual([
      { filter: EVERYTHING, responseFields: 'id,firstName,lastName', pageSize: '500', lastId: '0' },
      { filter: EVERYTHING, responseFields: 'id,firstName,lastName', pageSize: '500', lastId: '7000000000115' },
    ]);
  });

  it('prints a header for nothing', async () => {
    const ran = await list(FIELDS, { script: new ListScript(success([])) });
    expect(ran.stdout).toBe('id,lastName,firstName\n');
  });

  it('asks for all fields and shows all columns', async () => {
    const script = two();
    const { stdout } = await list([], { script });
    expect(script.queries[0]).toEqual({ filter: EVERYTHING, pageSize: '500', lastId: '0' });
    expect(stdout.split('\n')[0]?.split(',')).toHaveLength(37);
  });

  it.each([
    ['--json', '[\n{"id":7000000000114,"lastName":"Example"},\n{"id":7000000000115,"lastName":"O,Neil"}\n]\n'],
    ['--format=json', '[\n{"id":7000000000114,"lastName":"Example"},\n{"id":7000000000115,"lastName":"O,Neil"}\n]\n'],
    ['--format=ndjson', '{"id":7000000000114,"lastName":"Example"}\n{"id":7000000000115,"lastName":"O,Neil"}\n'],
    ['--csv', 'id,lastName\n7000000000114,Example\n7000000000115,"O,Neil"\n'],
    ['--excel', '\uFEFFid,lastName\r\n7000000000114,Example\r\n7000000000115,"O,Neil"\r\n'],
    ['--no-header', '7000000000114,Example\n7000000000115,"O,Neil"\n'],
    [
      '--format=table',
      'id             lastName\n─────────────  ────────\n7000000000114  Example\n7000000000115  O,Neil\n',
    ],
  ])('prints %s', async (flag, stdout) => {
    const ran = await list([flag, '--fields', 'id,lastName'], { script: two() });
    expect(ran).toEqual({ exitCode: 0, stdout, stderr: '' });
  });

  it('sends the filter and the limit', async () => {
    const script = new ListScript(success([ann]));
    await list(['--filter', 'lastName~=Ex', '--status', 'active', '--limit', '1', '--json'], { script });
    expect(script.queries).toEqual([
      { filter: `lastName~=Ex,patientStatus==ACTIVE,${EVERYTHING}`, pageSize: '1', lastId: '0' },
    ]);
  });

  it('tells warnings of the server once', async () => {
    const warnings = [{ title: 'Default date filter', description: 'One year\u001b.', source: 'lastModified' }];
    const world = { script: new ListScript(success([ann], { warnings }), success([], { warnings })) };
    expect((await list(FIELDS, world)).stderr).toBe('Warning: Default date filter: One year\ufffd. (lastModified)\n');
    const quiet = { script: new ListScript(success([ann], { warnings }), success([], { warnings })) };
    expect((await list([...FIELDS, '--quiet'], quiet)).stderr).toBe('');
  });

  it('logs requests without their values when asked', async () => {
    const script = new ListScript(answer(429, '', { 'retry-after': '2' }), success([ann]), success([]));
    const { stderr } = await list([...FIELDS, '--verbose', '--filter', 'lastName==Secretname'], { script });
    expect(stderr.replaceAll(/ \d+ ms /g, ' 0 ms ')).toBe(
      [
        'GET /api/v1/patients?filter&responseFields&pageSize&lastId 429 0 ms req-1',
        'Attempt 1 of 6 failed: HTTP 429 Next try in 2.0 s.',
        'GET /api/v1/patients?filter&responseFields&pageSize&lastId 200 0 ms req-1',
        'GET /api/v1/patients?filter&responseFields&pageSize&lastId 200 0 ms req-1',
        'GET /api/v1/patients/totalcount?filter 200 0 ms req-1',
        'GET /api/v1/patients/totalcount?filter 200 0 ms req-1',
        '',
      ].join('\n'),
    );
  });
});

describe('patients list on a terminal', () => {
  it('shows a table of the first 100 and says how to get the rest', async () => {
    const script = new ListScript(success(many(100)));
    const ran = await list([], { script, terminal: 100 });
    expect(ran.stdout.split('\n')).toHaveLength(103);
    expect(ran.stdout).toContain('Example');
    expect(ran.stderr).toBe('These are the first 100 patients. Add --all for every one, or --limit N.\n');
    expect(script.queries[0]).toMatchObject({ pageSize: '100' });
    expect(script.queries[0]?.responseFields).not.toContain('address1');
  });

  it('shows fewer without a word', async () => {
    expect((await list([], { script: two(), terminal: 100 })).stderr).toBe('');
  });

  it('says that nothing matches', async () => {
    expect((await list([], { script: new ListScript(success([])), terminal: 100 })).stderr).toBe(
      'No patients match.\n',
    );
  });

  it.each([
    ['--all', 250],
    ['--format=csv', 250],
    ['--limit=150', 150],
  ])('shows more with %s', async (flag, count) => {
    const rows = many(250);
    const page = ({ url }: { url: string }) => {
      const query = new URL(url).searchParams;
      return success(rows.filter(({ id }) => id > Number(query.get('lastId'))).slice(0, Number(query.get('pageSize'))));
    };
    const script = new ListScript(page, page, page, page);
    const { stdout, stderr } = await list([flag, '--no-header', '--fields', 'id'], { script, terminal: 100 });
    expect(stdout.trim().split('\n')).toHaveLength(count);
    expect(stderr).toBe('');
  });

  it('sorts every record before it shows the first 100', async () => {
    const rows = many(250);
    const pages = [rows.slice(0, 200), rows.slice(200), []].map((page) => success(page));
    const script = new ListScript(...pages);
    const { stdout, stderr } = await list(['--sort=-id', '--no-header', '--fields', 'id'], { script, terminal: 100 });
    expect(stdout.trim().split('\n')).toEqual(Array.from({ length: 100 }, (_, at) => String(250 - at)));
    expect(stderr).toBe('These are the first 100 patients. Add --all for every one, or --limit N.\n');
    expect(script.queries[0]?.pageSize).toBe('500');
  });

  it.each([
    [['--timezone', 'America/Denver'], '2026-11-24 08:00', 'Times in America/Denver.\n'],
    [['--utc'], '2026-11-24 15:00', 'Times in UTC.\n'],
    [[], '2026-11-24 15:00', 'Times in UTC, the time zone of this computer; --timezone names another.\n'],
    [['--csv', '--timezone', 'America/Denver'], '2026-11-24T15:00:00.000Z', ''],
  ])('shows times with %j', async (flags, shown, stderr) => {
    const script = new ListScript(success([{ id: 5, lastModified: '2026-11-24T15:00:00.000Z' }]), success([]));
    const ran = await list([...flags, '--no-header', '--fields', 'lastModified'], { script, terminal: 100 });
    expect(ran).toEqual({ exitCode: 0, stdout: `${shown}\n`, stderr });
  });

  it('says what does not fit', async () => {
    const { stderr } = await list(['--fields', 'id,lastName,firstName,phones'], { script: two(), terminal: 25 });
    expect(stderr).toBe('The terminal is too narrow for: firstName, phones. Choose with --fields.\n');
  });
});

describe('patients list --out', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['x.csv', [], 'id\n7000000000114\n7000000000115\n'],
    ['x.txt', [], 'id\n7000000000114\n7000000000115\n'],
    ['x.ndjson', [], '{"id":7000000000114}\n{"id":7000000000115}\n'],
    ['x.json', [], '[\n{"id":7000000000114},\n{"id":7000000000115}\n]\n'],
    ['x.json', ['--csv'], 'id\n7000000000114\n7000000000115\n'],
  ])('writes %s with %j', async (name, flags, content) => {
    const ran = await list(['--out', join(folder, name), '--fields', 'id', ...flags], { script: two(), terminal: 80 });
    const told = `Wrote 2 patients to ${join(folder, name)} (1 page, `;
    expect(ran).toEqual({ exitCode: 0, stdout: '', stderr: expect.stringContaining(told) });
    expect(await readFile(join(folder, name), 'utf8')).toBe(content);
    expect(await readdir(folder)).toEqual([name]);
  });

  it('leaves the file as it was when a page fails', async () => {
    const file = join(folder, 'x.csv');
    await writeFile(file, 'old');
    const ran = await list(['--out', file], { script: new ListScript(success([ann]), answer(403, '')) });
    expect(ran.exitCode).toBe(3);
    expect(await readFile(file, 'utf8')).toBe('old');
    expect((await readdir(folder)).sort()).toEqual(['x.csv', 'x.csv.part', 'x.csv.part.json']);
  });

  it('says one patient when there is one', async () => {
    const file = join(folder, 'x.csv');
    const { stderr } = await list(['--out', file], {
      script: new ListScript(success([ann]), success([])),
      terminal: 80,
    });
    expect(stderr).toContain(`Wrote 1 patient to ${file} (`);
  });

  it('asks the server for nothing when the file cannot be written', async () => {
    const ran = await list(['--out', join(folder, 'no', 'x.csv')], {});
    expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
  });

  it('says how to go on when it is interrupted, and leaves no file of that name', async () => {
    const stop = new AbortController();
    const script = new ListScript(success([ann]), () => {
      stop.abort(localFailure('run.interrupted', 'Interrupted.'));
      return answer(503, '');
    });
    const ran = await list(['--out', join(folder, 'x.csv')], { script, signal: stop.signal });
    expect(ran).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Next: Run it again with --resume') });
    expect(await readdir(folder)).not.toContain('x.csv');
  });
});

describe('patients list that fails', () => {
  it.each<[string, ListScript, number, string]>([
    ['an id again', new ListScript(success([ann]), success([ann])), 8, 'pages.order'],
    ['a server that fails', new ListScript(...Array.from({ length: 6 }, () => answer(500, ''))), 8, 'http.500'],
    ['no connection', new ListScript(...Array.from({ length: 6 }, () => broken(false))), 8, 'network.unreachable'],
    ['a refusal', new ListScript(problem(400, 'filter.value', 'id', 'No.')), 5, 'filter.value'],
    ['the rate limit', new ListScript(...Array.from({ length: 6 }, () => answer(429, ''))), 7, 'http.429'],
  ])('keeps JSON whole on %s', async (_name, script, exitCode, code) => {
    const ran = await list(['--json'], { script });
    expect(ran).toMatchObject({ exitCode, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ code, exitCode });
  });

  it('puts warnings that came before into the one JSON object', async () => {
    const warnings = [{ code: 'x', title: 'Deprecated parameter', description: 'Use lastId.', source: 'page' }];
    const script = () => new ListScript(success([ann], { warnings }), problem(403, 'auth.scope', null, 'No.'));
    const warning = 'Warning: Deprecated parameter: Use lastId. (page)';
    const ran = await list(['--json'], { script: script() });
    expect(ran).toMatchObject({ exitCode: 3, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ status: 403, notes: [warning] });

    const whole = new ListScript(success([ann], { warnings }), success([]));
    expect((await list(['--json', '--fields', 'id'], { script: whole })).stderr).toBe(`${warning}\n`);
    const quiet = jsonFailure(await list(['--json', '--quiet'], { script: script() }));
    expect(quiet).not.toHaveProperty('notes');
  });

  it('refuses names that are unknown, with those that are known and the nearest', async () => {
    const failure = jsonFailure(await list(['--format', 'json', '--fields', 'firstNam']));
    expect(failure).toMatchObject({
      message: expect.stringMatching(/^firstNam is not a field\. Fields: ALL, id, .*\. Did you mean firstName\?$/),
      hint: 'Use firstName. See molar patients list --help.',
    });
    const { stderr } = await list(['--format', 'table', '--sort', 'lastNam']);
    expect(stderr).toMatch(/^Error: lastNam is not a field\. Fields: id, .*\. Did you mean lastName\?\n/);
  });

  it('writes no header when the first page fails', async () => {
    const ran = await list([], { script: new ListScript(problem(401, 'auth.token_unknown', 'Authorization', 'No.')) });
    expect(ran).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: [
        'Error: The server rejected the token (HTTP 401): No.',
        '  at Authorization',
        'Request: req-1',
        'Next: Run molar login, or set MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET) to a valid one; molar doctor shows what is in use.',
        '',
      ].join('\n'),
    });
  });

  it('ends quietly when nobody reads', async () => {
    const write = () => Promise.reject(new ClosedPipe());
    expect(await list([], { script: two(), write })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it.each<[string, string[], string]>([
    ['an unknown flag', ['--bogus=hunter2'], 'usage.invalid'],
    ['an argument', ['hunter2'], 'usage.invalid'],
    ['a format', ['--format', 'hunter2'], 'usage.invalid'],
    ['a flag without a value', ['--limit'], 'usage.invalid'],
    ['a limit', ['--limit', 'hunter2'], 'usage.invalid'],
    ['a limit of 0', ['--limit', '0'], 'usage.invalid'],
    ['a page size', ['--page-size', '501'], 'usage.invalid'],
    ['retries', ['--max-retries', '-1'], 'usage.invalid'],
    ['two formats', ['--csv'], 'usage.invalid'],
    ['all and a limit', ['--all', '--limit', '5'], 'usage.invalid'],
    ['a list as the order', ['--sort', 'phones'], 'usage.invalid'],
    ['a field', ['--fields', 'lastNam'], 'query.fields'],
    ['no field', ['--fields', ','], 'usage.invalid'],
    ['a filter', ['--filter', 'x==1'], 'filter.key'],
    ['a file without a name', ['--out', ''], 'usage.invalid'],
    ['plain http', ['--url', 'http://example.com'], 'usage.insecure'],
  ])('refuses %s before anything is sent', async (_name, argv, code) => {
    const ran = await list(['--json', ...argv]);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(jsonFailure(ran)).toMatchObject({ code, exitCode: 2, status: null, requestId: null });
    expect(ran.stderr).not.toContain('hunter2');
  });
});
