import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sqlitePackage } from '../../src/sqlite/open.ts';
import { ROOT } from './tree.ts';

const COMMAND = `import { Command } from '@oclif/core';
export default class Hello extends Command {
  static override summary = 'Greet';
  async run(): Promise<void> {}
}
`;

/** What bin/bundle.mjs looks for in every checkout. */
const STARTED = [
  'cli/main.ts',
  'cli/startup/node20.ts',
  'shells/shell.ts',
  'cli/crud/listcommand.ts',
  'cli/account/keyring/child.ts',
  'cli/account/keyring/systemkeyring.ts',
  'cli/query/sqlitechild.ts',
  'cli/query/sqliteprocess.ts',
  'cli/serving/workerprocess.ts',
  'cli/serving/workers.ts',
  'server/files/imagechild.ts',
  'server/files/imageport.ts',
  'server/store/sqlite/bulkloadport.ts',
  'server/store/sqlite/bulkloadthread.ts',
  'server/store/sqlite/readerport.ts',
  'server/store/sqlite/readerthread.ts',
  'cli/help/commandhelp.ts',
  'cli/help/manual.ts',
  'cli/help/importformat.ts',
  'server/import/kinds.ts',
  'demo/random.ts',
];

/** The driver of this Node. */
const DRIVER = sqlitePackage(process.version);

const BUILDERS = ['bundle', 'licences', 'manifest', 'prepare', 'sbom'].map((name) => `bin/${name}.mjs`);

/**
 * npm as the build asks for it: in place of its list of materials, which takes most of a build, it prints the one that was
 * made of that for this checkout, which has the same form. Anything else fails. npm ci begins by emptying node_modules,
 * through a link too: the one file of these tests is gone by then, and none of the packages of this checkout, which other
 * tests link to.
 */
const NPM = `import { readFileSync, rmSync } from 'node:fs';
const words = process.argv.slice(2);
if (words[0] === 'ci') rmSync('node_modules/kept.txt', { force: true });
if (words[0] !== 'sbom') {
  console.error('npm was not to be asked for: ' + words.join(' '));
  process.exit(1);
}
process.stdout.write(readFileSync(${JSON.stringify(join(ROOT, 'sbom.json'))}));
`;

interface Prepared {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let above: string;
/** A checkout with one command and the packages of this one, which was built. */
let whole: string;
/** What those said that built it: three, started at the same time. */
let builders: readonly Prepared[];
/** A copy of it, for one test. */
let folder: string;

beforeAll(async () => {
  above = mkdtempSync(join(tmpdir(), 'molar-prepare-'));
  whole = join(above, 'whole');
  folder = whole;
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'bin/oldnode.mjs', ...BUILDERS]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const name of STARTED) write(`src/${name}`, 'export {};\n');
  write('src/cli/help/prepared.ts', 'export const preparedHelp = () => [];\n');
  write('src/commands/hello.ts', COMMAND);
  mkdirSync(join(above, 'npm'));
  writeFileSync(join(above, 'npm', 'package.json'), '{"type":"module"}');
  writeFileSync(join(above, 'npm', 'npm-cli.js'), NPM);
  builders = await Promise.all([prepare(), prepare(), prepare()]);
});

beforeEach(() => {
  folder = mkdtempSync(join(above, 'checkout-'));
  cpSync(whole, folder, { recursive: true, verbatimSymlinks: true });
});

afterAll(() => rmSync(above, { recursive: true, force: true }));

function write(name: string, text: string) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const built = (name: string) => existsSync(join(folder, 'dist', name));

function prepare(...args: string[]): Promise<Prepared> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, npm_execpath: join(above, 'npm', 'npm-cli.js') };
    const child = spawn(process.execPath, [join(folder, 'bin/prepare.mjs'), ...args], { env });
    const said = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (said.stdout += chunk));
    child.stderr.on('data', (chunk) => (said.stderr += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, ...said }));
  });
}

const quiet = { status: 0, stdout: '', stderr: '' };
const building = { status: 0, stdout: '', stderr: 'Building …\n' };

describe('bin/prepare.mjs', () => {
  it('builds what is missing, once when started three times', () => {
    const said = builders.map(({ stderr }) => stderr).sort();
    expect(builders.map(({ status, stdout }) => ({ status, stdout }))).toEqual(
      said.map(() => ({ status: 0, stdout: '' })),
    );
    expect(said.join('').match(/Building/g)).toHaveLength(1);
    expect(existsSync(join(folder, '.prepare.lock'))).toBe(false);
    expect(built('commands/hello.js')).toBe(true);
    const manifest = JSON.parse(readFileSync(join(folder, 'oclif.manifest.json'), 'utf8'));
    expect(Object.keys(manifest.commands)).toEqual(['hello']);
  });

  it('builds nothing of what is as it was', async () => {
    expect(await prepare()).toEqual(quiet);
    write('src/commands/hello.ts', COMMAND);
    expect(await prepare()).toEqual(quiet);
  });

  it('builds nothing when it is asked for packages alone, and waits for no build', async () => {
    rmSync(join(folder, 'dist'), { recursive: true });
    // The lock of one that builds.
    write('.prepare.lock', String(process.pid));
    expect(await prepare('--packages')).toEqual(quiet);
    rmSync(join(folder, '.prepare.lock'));
    expect(await prepare('--packages')).toEqual(quiet);
    expect(existsSync(join(folder, 'dist'))).toBe(false);
  });

  it('builds when told to', async () => {
    // A lock of a process that is gone is taken over.
    write('.prepare.lock', '2147483646');
    expect(await prepare('--build')).toEqual(building);
  });

  it.each(['dist/.inputs', 'oclif.manifest.json', 'sbom.json', 'THIRD-PARTY-LICENSES'])(
    'builds when %s is gone',
    async (name) => {
      rmSync(join(folder, name));
      // To see that a build begins is enough: it has no compiler.
      rmSync(join(folder, 'node_modules'));
      for (const there of ['.package-lock.json', DRIVER]) {
        mkdirSync(join(folder, 'node_modules'), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules', there), join(folder, 'node_modules', there));
      }
      const { status, stderr } = await prepare();
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^Building …\n/) });
    },
  );

  it('shows why a build failed, keeps the last one, tries again, and builds what has changed', async () => {
    write('src/commands/hello.ts', `${COMMAND}const wrong: number = 'text';\n`);
    for (const _ of ['first', 'second']) {
      const { status, stderr } = await prepare();
      expect(status).toBe(1);
      expect(stderr).toContain("src/commands/hello.ts(6,7): error TS2322: Type 'string' is not assignable");
    }
    expect(built('commands/hello.js')).toBe(true);
    write('src/commands/goodbye.ts', COMMAND.replace('Hello', 'Goodbye'));
    rmSync(join(folder, 'src/commands/hello.ts'));
    expect(await prepare()).toEqual(building);
    expect([built('commands/hello.js'), built('commands/goodbye.js')]).toEqual([false, true]);
  });

  it('says what cannot be bundled', async () => {
    write(
      'src/commands/hello.ts',
      `${COMMAND}export type Gone = typeof import('./hello.ts');\nexport { gone } from 'gone';\n`,
    );
    write('src/gone.d.ts', "declare module 'gone' { export const gone: string; }\n");
    const { status, stderr } = await prepare();
    expect(status).toBe(1);
    expect(stderr).toContain('src/commands/hello.ts:7:21: ERROR: Could not resolve "gone"');
    expect(readFileSync(join(folder, 'dist/commands/hello.js'))).toEqual(
      readFileSync(join(whole, 'dist/commands/hello.js')),
    );
  });

  it('installs nothing through a link, which would empty the folder of another checkout', async () => {
    write('elsewhere/kept.txt', 'kept');
    rmSync(join(folder, 'node_modules'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'node_modules'));
    const { status, stderr } = await prepare();
    expect(existsSync(join(folder, 'elsewhere/kept.txt')), stderr).toBe(true);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('node_modules is a link, and what it leads to is not what package-lock.json'),
    });
  });
});
