import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** bin/run.js of this checkout, or of a copy that is installed elsewhere. */
export const RUN = process.env.MOLAR_TEST_PRODUCT ?? resolve(import.meta.dirname, '../../bin/run.js');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Env = Readonly<Record<string, string>>;

/** A shell's environment without anything of the machine's own that molar reads. */
export function cleanEnv(more: Env): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(MOLAR_|HTTPS?_PROXY|NO_PROXY|CI$|NODE_ENV|NODE_OPTIONS)/i.test(name),
  );
  // No test writes into the keyring of the person who runs it.
  const none = { MOLAR_CONFIG_DIR: join(tmpdir(), 'molar-acceptance-no-config'), MOLAR_KEYRING: 'off' };
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...none, ...more };
}

/** Starts bin/run.js, that of this checkout or another, in a folder, by this Node or another `node`. */
export function start(
  folder: string,
  args: readonly string[],
  env: Env = {},
  run = RUN,
  node = process.execPath,
): ChildProcess {
  const child = spawn(node, [run, ...args], { cwd: folder, env: cleanEnv(env), stdio: ['pipe', 'pipe', 'pipe'] });
  // One that ends without reading is judged by how it ends.
  child.stdin.on('error', () => undefined);
  return child;
}

/** Runs bin/run.js to its end. */
export async function molar(
  folder: string,
  args: readonly string[],
  env: Env = {},
  input: string | Uint8Array = '',
  run = RUN,
): Promise<Ended> {
  const child = start(folder, args, env, run);
  child.stdin?.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

/** Copies the built program to where it finds every package with machine code but sharp; gives its bin/run.js. */
export async function copyWithoutImages(folder: string): Promise<string> {
  const root = resolve(import.meta.dirname, '../..');
  for (const path of ['bin', 'dist', 'oclif.manifest.json', 'package.json'])
    await cp(join(root, path), join(folder, path), { recursive: true });
  const { optionalDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await mkdir(join(folder, 'node_modules/@napi-rs'), { recursive: true });
  for (const name of Object.keys(optionalDependencies))
    if (name !== 'sharp') await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  return join(folder, 'bin/run.js');
}

/** Imports the code of every command of a built or installed copy in one process, and tells how many there are. */
export async function loadCommands(root: string): Promise<Ended & { readonly files: number }> {
  const { commands } = JSON.parse(await readFile(join(root, 'oclif.manifest.json'), 'utf8'));
  const files = Object.keys(commands).map((id) => join(root, 'dist/commands', `${id.replaceAll(':', '/')}.js`));
  const script = `for (const file of ${JSON.stringify(files)}) if (!(await import(file).catch(() => import(file.replace(/\\.js$/, '/index.js')))).default) throw file;`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: root, env: cleanEnv({}) });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr, files: files.length };
}

export async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** Whether a process has ended; by a signal, it has no exit code. */
export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

export function exit(child: ChildProcess): Promise<number | null> {
  return new Promise((done) => {
    if (hasEnded(child)) done(child.exitCode);
    child.once('close', (code) => done(code));
  });
}

/** Waits until a process treats signals itself. Which it does is asked of Linux: nothing is to be seen from outside. */
export async function treatsSignals(child: ChildProcess): Promise<void> {
  if (!existsSync('/proc/self/status')) return sleep(10_000);
  const caught = async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    return BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(status)?.[1] ?? '0'}`);
  };
  // The first bit is SIGHUP, which Node leaves alone until somebody listens.
  while (!hasEnded(child) && ((await caught()) & 1n) === 0n) await sleep(20);
}

/** A `molar serve` that listens. */
export interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  readonly line: string;
  /** Standard error, whole once the server has ended. */
  readonly errors: Promise<string>;
  /** What has come of it so far. */
  readonly log: () => string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts `molar serve --json`, on a free port unless one is named, and waits for the line that says where it listens. With
 * MOLAR_TEST_WORKERS=2 it is a server of two processes, which is to make no difference.
 */
export async function serve(
  folder: string,
  args: readonly string[],
  run = RUN,
  env: Env = {},
  node = process.execPath,
): Promise<Served> {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const workers =
    process.env.MOLAR_TEST_WORKERS && !args.includes('--workers') ? ['--workers', process.env.MOLAR_TEST_WORKERS] : [];
  const child = start(folder, ['serve', ...port, '--json', ...workers, ...args], env, run, node);
  const errors = text(child.stderr);
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log += String(chunk);
  });
  const ended = exit(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const line = await Promise.race([
    new Promise<string>((done) => lines.once('line', done)),
    ended.then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`serve ended with ${child.exitCode}: ${await errors}`);
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    child,
    line,
    errors,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** A folder of its own for a test file. */
export async function workplace(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'molar-acceptance-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export const ORGANIZATION = '5f3c0ffee0000000000000a1';
export const TOKEN = 'acceptance-token';
/** Of a token that only has model:read. */
export const READER = 'acceptance-reader';
export const PATIENT = 7000000000114;

const LOCATION = 7000000000005;

/** Patients of the fixture: every third is a Smith, Smyth or Smitson, every second inactive. */
export function fixturePatients(count: number) {
  const names = ['Smith', 'Jones', 'Nguyen', 'smyth', 'Ågren', "O'Hara", 'Smitson', '=Cruz', 'Vega, Jr'];
  return Array.from({ length: count }, (_, index) => ({
    type: 'PatientV1',
    organizationId: ORGANIZATION,
    id: PATIENT + index,
    firstName: `First${index}`,
    lastName: names[index % names.length] ?? '',
    gender: 'O',
    dateOfBirth: '1980-02-29',
    patientStatus: index % 2 === 0 ? 'ACTIVE' : 'INACTIVE',
    contactMethod: 'Email me',
    languageType: 'English',
    preferredLocation: { id: LOCATION },
    address1: `${index} Example Street`,
    city: 'Exampleton',
    state: 'UT',
    postalCode: '84101',
    phones: [{ phoneType: 'MOBILE', number: '(801) 555-0123', sequence: 1 }],
  }));
}

/** An organization with a location, two tokens and patients. */
export function fixtureRecords(count: number): Readonly<Record<string, unknown>>[] {
  return [
    {
      type: 'Organization',
      organizationId: ORGANIZATION,
      id: ORGANIZATION,
      name: 'Example',
      timezone: 'America/Denver',
      createdDate: '2020-01-01',
    },
    { type: 'Location', organizationId: ORGANIZATION, id: LOCATION, name: 'Main', timezone: 'America/Denver' },
    { type: 'AccessToken', token: TOKEN, organizations: [ORGANIZATION], scopes: ['model:read', 'model:write'] },
    { type: 'AccessToken', token: READER, organizations: [ORGANIZATION], scopes: ['model:read'] },
    ...fixturePatients(count),
  ];
}

/** Writes an import file with `fixtureRecords`. */
export async function writeFixture(folder: string, count: number, name = 'fixture.ndjson'): Promise<void> {
  const records = fixtureRecords(count);
  await writeFile(join(folder, name), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

export function connection(url: string, token = TOKEN): Env {
  return { MOLAR_URL: url, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: token };
}
