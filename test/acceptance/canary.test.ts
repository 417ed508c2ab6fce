import { type ChildProcess, execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { allOperations } from '../../src/catalog/catalog.ts';
import { big, LOCATIONS, ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { bytes, canariesIn, canaryPractice, SECRET, word, wrongBodies } from './canaries.ts';
import { molarIn } from './inprocess.ts';
import { type Ended, exit, molar, start, workplace } from './molar.ts';

const run = promisify(execFile);

let place: Awaited<ReturnType<typeof workplace>>;
let server: ChildProcess;
let url = '';
let log = '';
let env: Record<string, string> = {};
const argumentLists = new Set<string>();
const temporary: string[] = [];
let watching: NodeJS.Timeout;

/** Everything that any process of the machine shows of its argument list, while commands without canaries run. */
async function readArguments(): Promise<void> {
  const { stdout } = await run('ps', ['-A', '-ww', '-o', 'args='], { maxBuffer: 64 * 1024 * 1024 });
  for (const args of stdout.split('\n')) argumentLists.add(args);
}

/** Names and contents of the temporary files that are there now; those that lose their name at once cannot be read. */
async function readTemporary(): Promise<void> {
  const folder = join(place.path, 'tmp');
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await readFile(path).catch(() => '') : '';
    temporary.push(...canariesIn(`${path} ${content.toString('latin1')}`));
  }
}

async function begin(): Promise<void> {
  const args = ['serve', '--port', '0', '--json', '--data', 'data', '--log-level', 'debug'];
  server = start(place.path, args, env);
  server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const lines = createInterface({ input: server.stdout as NodeJS.ReadableStream });
  const line = await new Promise<string>((done) => lines.once('line', done));
  url = (JSON.parse(line) as { url: string }).url;
  env = { ...env, MOLAR_URL: url };
}

/** Runs a command, as the program or in this process, whose temporary folder is that of the program. */
const client = (args: readonly string[], how: 'built' | 'here'): Promise<Ended> =>
  (how === 'built' ? molar : molarIn)(place.path, args, env);
const wire = (method: string, path: string, body?: unknown) =>
  fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKENS.full}`,
      'organization-id': ORGANIZATION,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

beforeAll(async () => {
  place = await workplace();
  await mkdir(join(place.path, 'tmp'));
  vi.stubEnv('TMPDIR', join(place.path, 'tmp'));
  env = {
    MOLAR_ORGANIZATION: ORGANIZATION,
    MOLAR_TOKEN: TOKENS.full,
    TMPDIR: join(place.path, 'tmp'),
    MOLAR_CONFIG_DIR: 'config',
  };
  const lines = canaryPractice().map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(join(place.path, 'practice.ndjson'), lines.join(''));
  const imported = await molar(place.path, ['server', 'import', 'practice.ndjson', '--data', 'data'], env);
  expect([imported.code, imported.stderr]).toEqual([0, '']);
  expect(canariesIn(imported.stdout)).toEqual([]);
  await begin();
  watching = setInterval(() => Promise.all([readArguments(), readTemporary()]).catch(() => undefined), 250);
});

afterAll(async () => {
  clearInterval(watching);
  vi.unstubAllEnvs();
  const ended = exit(server);
  server.kill('SIGTERM');
  await ended;
  await place.remove();
});

/**
 * Commands in their noisiest mode, none with a canary among its arguments; those that end well, with what they print. One of
 * each exit code is the program, and what starts other programs or sends a file.
 */
const COMMANDS: readonly (readonly [code: number, args: string, how?: 'built' | 'here'])[] = [
  [0, 'patients list --format json', 'built'],
  [0, 'patients list --async --format csv'],
  [0, `patients get ${PATIENTS.ann}`],
  [0, 'patients create --data body.json'],
  [0, `patients update ${PATIENTS.bob} --data change.json`],
  [2, 'patients create --data wrong.json', 'built'],
  [5, 'api POST /patients --data wrong.json', 'built'],
  [4, 'patients get 5 --json', 'built'],
  [2, 'patients list --filter nosuch==1'],
  [5, 'api GET /patients?filter=nosuch==1'],
  [0, 'export ALL --to exported --parallel 2'],
  [0, 'documents upload scan.pdf --patient ID --tag Scan --name scan', 'built'],
  [0, `documents download ${big(201)} --out got.pdf`],
  [0, `agingbalances report --location ${LOCATIONS.east} --format csv`],
  [0, 'stream listen --from beginning --limit 3 --exec cat', 'built'],
  [3, 'patients list --token-file other.token', 'built'],
];

// In this order: the later tests look at what the earlier ones have left.
describe('a practice whose every text is a canary', { shuffle: false }, () => {
  test('is told on the standard error of no command, however noisy', async () => {
    const patient = allOperations().find(({ operation }) => operation.id === 'patients.create');
    await Promise.all([
      writeFile(join(place.path, 'body.json'), JSON.stringify(newPatient())),
      writeFile(join(place.path, 'change.json'), JSON.stringify({ firstName: word(), address2: word() })),
      writeFile(join(place.path, 'wrong.json'), JSON.stringify(wrongBodies(patient?.operation.body ?? {})[0])),
      writeFile(join(place.path, 'scan.pdf'), Buffer.from(bytes(), 'base64')),
      writeFile(join(place.path, 'other.token'), 'Qzwx-a-token-that-nobody-knows\n'),
    ]);
    let printed = '';
    const tried = async ([code, text, how = 'here']: (typeof COMMANDS)[number]) => {
      const args = text.replace('ID', String(PATIENTS.ann)).split(' ');
      const ended = await client([...args, '--verbose'], how);
      expect([text, ended.code, ended.stderr.slice(0, code === ended.code ? 0 : 2000)]).toEqual([text, code, '']);
      expect([text, canariesIn(ended.stderr)]).toEqual([text, []]);
      if (code !== 0) expect([text, canariesIn(ended.stdout)]).toEqual([text, []]);
      printed += ended.stdout;
    };
    for (let at = 0; at < COMMANDS.length; at += 4) await Promise.all(COMMANDS.slice(at, at + 4).map(tried));
    // The canaries are there to be found.
    expect(canariesIn(printed).length).toBeGreaterThan(1);
  });

  test('is in no argument list of any process', async () => {
    await readArguments();
    expect([...argumentLists].some((args) => args.includes('serve --port 0'))).toBe(true);
    expect([...argumentLists].flatMap(canariesIn)).toEqual([]);
  });

  test('is in no refusal of the server, to bodies, filters and parameters that are wrong in every way', async () => {
    for (const { operation, resource } of allOperations()) {
      const path = operation.path.replace(/\{\w+\}/, String(PATIENTS.ann));
      const keys = Object.keys(operation.filters ?? {});
      const filters = [
        ...['==', '<=', '~='].map((operator) => keys.map((key) => `${key}${operator}1913-77-99${word()}`).join(',')),
        keys.map((key) => `${key}->[1913-77-99,${word()}]`).join(','),
        ...keys.slice(0, 1).flatMap((key) => [`${key}->${word()}`, `${key}=="${word()}`, `${key}==1 ${word()},,`]),
      ];
      const queries = filters.map((filter) => `?filter=${encodeURIComponent(filter)}&pageSize=${word()}`);
      const wrong = operation.body === undefined ? [] : wrongBodies(resource.fields);
      const bodies = wrong.length > 0 ? [...wrong, word(), [word()], { file: { content: word() } }] : [];
      const asked = [
        ...queries.map((query) => ({ to: path + query, body: undefined })),
        ...bodies.map((body) => ({ to: path, body })),
      ];
      for (const { to, body } of asked) {
        const answer = await wire(operation.method, to, body);
        if (answer.status >= 400) {
          const { errors } = (await answer.json()) as { errors: { description: string }[] };
          expect([operation.id, canariesIn(JSON.stringify(errors))]).toEqual([operation.id, []]);
        } else await answer.arrayBuffer();
      }
    }
  });

  test('is in no problem of an import, and in nothing that the commands of the server print', async () => {
    const bad = canaryPractice()
      .filter(({ type }) => String(type).endsWith('V1'))
      .map((record) => ({ ...record, gender: word(), start: word(), name: word().repeat(90), patient: { id: 1 } }));
    await writeFile(join(place.path, 'bad.ndjson'), bad.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const commands = ['import bad.ndjson', 'check', 'audit export', 'audit verify', 'tokens list', 'backup kept'];
    for (const text of commands) {
      const isBad = text.includes('bad');
      const ended = await client(['server', ...text.split(' '), '--data', 'data'], isBad ? 'built' : 'here');
      expect([text, ended.code, canariesIn(ended.stdout + ended.stderr)]).toEqual([text, isBad ? 2 : 0, []]);
      if (text === 'audit export') expect(ended.stdout.split('\n').length).toBeGreaterThan(20);
    }
  });

  test('is in no log line and no metric, after faults and after a command line that holds it itself', async () => {
    clearInterval(watching);
    const secret = await molar(place.path, ['patients', 'list', '--last-name', word(), '--verbose', '--count'], {
      ...env,
      MOLAR_TOKEN: '',
      MOLAR_CLIENT_ID: 'nightly',
      MOLAR_CLIENT_SECRET: SECRET,
    });
    expect([secret.code === 0 || secret.code === 2, canariesIn(secret.stderr)]).toEqual([true, []]);
    // The file of a document is gone: a fault of the server's own.
    const link = (await (await wire('GET', `/documents/${big(201)}`)).json()) as Linked;
    await rm(join(place.path, 'data', 'files'), { recursive: true, force: true });
    expect((await fetch(link.data.storage.original)).status).toBe(500);
    const patients = await wire('GET', `/patients?filter=lastName==${word()}&responseFields=ALL`);
    expect(patients.status).toBe(200);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('molar_http_requests_total');
    expect(canariesIn(metrics)).toEqual([]);
    expect(log.split('\n').length).toBeGreaterThan(200);
    expect(log).toContain('"level":50');
    expect(canariesIn(log)).toEqual([]);
    for (const token of [TOKENS.full, SECRET]) expect(log + metrics).not.toContain(token);
  });

  test('is in no temporary file, and in what was kept for its owner alone', async () => {
    await readTemporary();
    expect(temporary).toEqual([]);
    for (const folder of ['data', 'kept']) {
      const all = await readdir(join(place.path, folder), { recursive: true, withFileTypes: true });
      const paths = [join(place.path, folder), ...all.map(({ parentPath, name }) => join(parentPath, name))];
      for (const path of paths) {
        const { mode } = await stat(path);
        expect([path, (mode & 0o077).toString(8)]).toEqual([path, '0']);
      }
    }
  });

  test('is not told by a server whose data is damaged, or that is killed', async () => {
    const ended = exit(server);
    server.kill('SIGABRT');
    await ended;
    const file = join(place.path, 'data', 'molar.sqlite');
    const content = await readFile(file);
    content.fill('Qzwx', 0, 8192);
    await writeFile(file, content);
    const broken = await molar(place.path, ['serve', '--port', '0', '--data', 'data', '--log-level', 'debug'], env);
    expect(broken.code).not.toBe(0);
    expect(canariesIn(broken.stdout + broken.stderr + log)).toEqual([]);
  });
});

interface Linked {
  readonly data: { readonly storage: { readonly original: string } };
}

function newPatient() {
  return {
    firstName: word(),
    lastName: word(),
    gender: 'F',
    dateOfBirth: '1913-07-09',
    patientStatus: 'ACTIVE',
    contactMethod: 'Email me',
    languageType: 'English',
    preferredLocation: { id: LOCATIONS.east },
    address1: word(),
    city: word(),
    state: 'CO',
    postalCode: '80014',
    emailAddress: `${word()}@example.com`,
    phones: [{ phoneType: 'HOME', number: '(801) 555-9811', sequence: 1 }],
  };
}
