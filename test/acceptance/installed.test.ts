import { spawn } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { sqlitePackage } from '../../src/sqlite/open.ts';
import { PIXELS } from './archives.ts';
import { cleanEnv, connection, type Ended, exit, PATIENT, serve, text, workplace, writeFixture } from './molar.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** `npm run test:package`: packs with scripts, and builds the native module as people would; that takes minutes. */
const WITH_SCRIPTS = process.env.MOLAR_PACKAGE_SCRIPTS === 'on';
const MINUTES = 60_000;
const BUILT = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
/** The driver of this Node: the one of newer versions comes ready-made, the other has to be built. */
const DRIVER = sqlitePackage(process.version);
const READY_MADE = DRIVER === 'better-sqlite3-node-api';

let place: Awaited<ReturnType<typeof workplace>>;
/** Where the package lies once it is installed. */
let folder: string | undefined;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 30);
});

afterAll(() => place.remove());

const molarPath = () => join(place.path, 'prefix/bin/molar');

/** Nothing of the npm that runs the tests, such as the folders it works in, but what it was told of registry and cache. */
function npmEnv(): Record<string, string> {
  const kept = Object.entries(cleanEnv({})).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(?:registry|cache|userconfig|nodedir)$/i.test(name),
  );
  return { ...Object.fromEntries(kept), npm_config_audit: 'false', npm_config_fund: 'false' };
}

async function run(program: string, args: readonly string[], env: Record<string, string>, cwd: string): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit(child)]);
  return { code, stdout, stderr };
}

const npm = (args: readonly string[], cwd: string) => run('npm', args, npmEnv(), cwd);
const installed = (args: readonly string[], env: Record<string, string> = {}) =>
  run(molarPath(), args, cleanEnv(env), place.path);

/** Packs with the scripts of the package, and gives the archive. */
async function packed(): Promise<string> {
  expect(await npm(['pack', '--pack-destination', place.path], ROOT)).toMatchObject({ code: 0 });
  const [archive = ''] = (await readdir(place.path)).filter((name) => name.endsWith('.tgz'));
  return join(place.path, archive);
}

/** The folder of the installed package; without one there is nothing to test, and the first test has said why. */
function folderOr({ skip }: TestContext): string {
  return folder ?? skip('the package is not installed');
}

/** Whether a package registry answers at all. */
async function answers(): Promise<boolean> {
  const probe = ['view', 'detect-libc', 'version', '--prefer-online', '--fetch-retries=0', '--fetch-timeout=20000'];
  return (await npm(probe, place.path)).code === 0;
}

// One story: the package is packed and installed, tried, and then given what serving needs.
describe('the package', { shuffle: false }, () => {
  describe('installed into an empty folder without running a script of any package', () => {
    it('is packed and installed', { timeout: 5 * MINUTES }, async ({ skip }) => {
      const prefix = join(place.path, 'prefix');
      await mkdir(prefix);
      // With --install-links npm packs a folder as `npm pack` does, and installs that.
      const what = WITH_SCRIPTS ? [await packed()] : ['--install-links', ROOT];
      const args = ['install', '--global', '--prefix', prefix, '--ignore-scripts', ...what];
      // Without a registry npm would try again for minutes; what it has kept of earlier installations may be enough.
      const { code, stderr } = await npm(
        [...args, process.env.CI === 'true' || (await answers()) ? '--prefer-offline' : '--offline'],
        place.path,
      );
      if (code !== 0 && /\bENOTCACHED\b/.test(stderr) && process.env.CI !== 'true') skip('no package registry answers');
      expect(code, stderr).toBe(0);
      folder = dirname(dirname(await realpath(molarPath())));
      expect(folder).toBe(join(await realpath(prefix), 'lib/node_modules/molar-cli'));
    });

    it('brings no package that is bundled', async (context) => {
      const path = folderOr(context);
      const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      const brought = await readdir(join(path, 'node_modules'));
      expect(brought).toEqual(expect.arrayContaining(['@napi-rs', DRIVER, 'sharp']));
      expect(Object.keys(devDependencies).filter((name) => brought.includes(name.split('/')[0] ?? ''))).toEqual([]);
    });

    it('answers by its name, and man(1) finds its pages', async (context) => {
      const path = folderOr(context);
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      const { stdout } = await installed(['--version']);
      expect(stdout).toBe(`molar-cli/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
      for (const page of [
        'man1/molar.1',
        'man1/molar-patients-list.1',
        'man5/molar-import.5',
        'man7/molar-filters.7',
      ]) {
        expect(await realpath(join(place.path, 'prefix/share/man', page))).toBe(join(path, 'man', page));
      }
    });

    // That all that is loaded is packed, test/house/contents.test.ts says; that nothing else is, withoutimages.test.ts.
    it.each<[args: string[], printed: RegExp]>([
      [['help', 'filters'], /lastName~=Sm/],
      [['autocomplete', 'bash'], /complete -F/],
    ])('runs %j', async (args, printed) => {
      const ended = await installed(args);
      expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(printed) });
    });

    it('says what to do before it can serve without its driver', async (context) => {
      const path = join(folderOr(context), 'node_modules', DRIVER);
      if (READY_MADE) await rename(path, join(place.path, DRIVER));
      const next = READY_MADE
        ? 'Install molar again with its optional packages'
        : 'Run "npm rebuild better-sqlite3" in ';
      expect(await installed(['serve', '--port', '0', '--data', ':memory:'])).toEqual({
        code: 9,
        stdout: '',
        stderr: expect.stringMatching(new RegExp(`^Error: The SQLite driver \\(${DRIVER}\\) .*\\nNext: ${next}`)),
      });
      if (READY_MADE) await rename(join(place.path, DRIVER), path);
    });
  });

  describe('with the native module of SQLite', () => {
    it('is ready-made, or what `npm rebuild` makes of it, as serve has said', {
      timeout: 10 * MINUTES,
    }, async (context) => {
      const path = folderOr(context);
      if (READY_MADE) {
        const prebuilt = await readdir(join(path, 'node_modules', DRIVER, 'prebuilds'), { recursive: true });
        expect(prebuilt.filter((name) => name.endsWith('.node'))).not.toEqual([]);
        return;
      }
      if (WITH_SCRIPTS) {
        expect(await npm(['rebuild', 'better-sqlite3'], path)).toMatchObject({ code: 0 });
      } else {
        // Building takes minutes where nothing ready-made can be fetched: the module that this checkout has stands in.
        await mkdir(dirname(join(path, BUILT)), { recursive: true });
        await copyFile(join(ROOT, BUILT), join(path, BUILT));
      }
      expect((await stat(join(path, BUILT))).size).toBeGreaterThan(0);
    });

    it('serves, changes a patient, and cuts an image', async (context) => {
      const run = join(folderOr(context), 'bin/run.js');
      await writeFile(join(place.path, 'pixels.png'), PIXELS);
      const own = await serve(place.path, ['--data', 'own', '--import', 'fixture.ndjson'], run);
      onTestFinished(() => void own.stop());
      const changed = await installed(
        ['patients', 'update', `${PATIENT}`, '--city', 'Denver', '--json'],
        connection(own.url),
      );
      expect(changed, changed.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/"city": ?"Denver"/) });
      const upload = `documents upload pixels.png --patient ${PATIENT} --crop 0,0,2,1 --ratio 1 --json`.split(' ');
      const cut = await installed(upload, connection(own.url));
      expect(cut, cut.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"cropped"') });
      expect(await own.stop()).toBe(0);
    });
  });
});
