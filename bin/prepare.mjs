#!/usr/bin/env node
// Installs and builds what is missing or stale in a checkout; `--build` builds in any case, and `--packages` only installs.
// Plain Node, no packages.
import './oldnode.mjs';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';
import { foldersOf, licences } from './licences.mjs';
import { manifest } from './manifest.mjs';
import { billOfMaterials, SBOM_ARGUMENTS } from './sbom.mjs';

const [major, minor] = process.versions.node.split('.').map(Number);
const FORCED = process.argv.includes('--build');
const PACKAGES_ONLY = process.argv.includes('--packages');
const ROOT = resolve(import.meta.dirname, '..');
const LOCK = join(ROOT, '.prepare.lock');
const FRESH = join(ROOT, 'dist.new');
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.inputs');
const MANIFEST = join(ROOT, 'oclif.manifest.json');
const LICENCES = join(ROOT, 'THIRD-PARTY-LICENSES');
const SBOM = join(ROOT, 'sbom.json');
// As src/sqlite/open.ts has it: the one that newer versions of Node need comes built.
const SQLITE = major > 22 || (major === 22 && minor >= 14) ? 'better-sqlite3-node-api' : 'better-sqlite3';
const IS_BUILT_HERE = SQLITE === 'better-sqlite3';

const BUILDERS = ['bundle', 'licences', 'manifest', 'prepare', 'sbom'].map((name) => `bin/${name}.mjs`);

const say = (text) => process.stderr.write(`${text}\n`);

/** A step that failed: what the step printed has been shown, so the message is all that is left to say. */
class Failed extends Error {}

/**
 * Runs a program quietly and gives what it wrote to standard output, or undefined when it may fail and did; shows all that
 * it wrote otherwise.
 */
async function run(program, args, { mayFail = false } = {}) {
  // Compilers that npm starts use all cores.
  const env = { JOBS: 'max', ...process.env };
  const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, problem] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
  if (problem === undefined) return stdout;
  if (mayFail) return undefined;
  say(`${stdout}${stderr}`.trim());
  throw new Failed(`${[program, ...args].join(' ')} failed${problem}.`);
}

/** Undefined for success; else what is to be said of the failure beside what the program has written. */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(`: ${message}`));
    child.once('exit', (code) => resolve(code === 0 ? undefined : ''));
  });
}

/** npm as it was started, so that `npm start` uses the npm that the user ran. */
function npm(args, options) {
  const started = process.env.npm_execpath ?? '';
  return started.endsWith('npm-cli.js')
    ? run(process.execPath, [started, ...args], options)
    : run('npm', args, options);
}

/**
 * How packages are installed. None of them needs its script but the driver that is built here: npm would build the other
 * one, too, since it has a binding.gyp, and leave it out, without a word, where there is no Python.
 */
const INSTALLING = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Whether node_modules holds every package that package-lock.json asks for; optional ones may be missing. */
function isInstalled() {
  const installedFile = join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = readJson(installedFile).packages ?? {};
  return Object.entries(readJson(join(ROOT, 'package-lock.json')).packages).every(
    ([path, wanted]) =>
      path === '' ||
      (installed[path] === undefined ? wanted.optional === true : installed[path].version === wanted.version),
  );
}

function isLinked() {
  return lstatSync(join(ROOT, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

async function install() {
  // npm would go through the link and empty the folder that another checkout uses.
  if (isLinked()) {
    throw new Failed('node_modules is a link, and what it leads to is not what package-lock.json asks for.');
  }
  say('Installing packages (npm ci) …');
  await npm(['ci', '--include=dev', '--include=optional', ...INSTALLING]);
}

/** Everything the build reads, as one digest: times of files say nothing after a checkout or a copy. */
function inputsDigest() {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  const others = ['package.json', 'package-lock.json', 'tsconfig.json', ...BUILDERS];
  for (const file of [...files, ...others].map((name) => resolve(ROOT, name))) {
    hash
      .update(`${file.slice(ROOT.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function isBuilt(digest) {
  return [STAMP, MANIFEST, LICENCES, SBOM].every((file) => existsSync(file)) && readFileSync(STAMP, 'utf8') === digest;
}

/** Checks the types, then bundles beside `dist` and swaps, so that a process that runs from `dist` never sees half of a build. */
async function build(digest) {
  say('Building …');
  rmSync(FRESH, { recursive: true, force: true });
  await run(process.execPath, [
    join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'tsconfig.json',
    '--noEmit',
  ]);
  const inputs = await bundle(ROOT, FRESH).catch(({ message }) => {
    throw new Failed(`${message}\nThe sources cannot be bundled.`);
  });
  rmSync(DIST, { recursive: true, force: true });
  renameSync(FRESH, DIST);
  replace(MANIFEST, await manifest(ROOT));
  await writeHelp();
  await writeSupplies(inputs);
  writeFileSync(STAMP, digest);
}

/** The help of commands and topics as it is where there is no terminal, which bin/run.js then only copies. */
async function writeHelp() {
  const { preparedHelp } = await import(pathToFileURL(join(DIST, 'cli', 'help', 'prepared.js')).href);
  const folder = join(DIST, 'help');
  mkdirSync(folder, { recursive: true });
  for (const [id, texts] of await preparedHelp(ROOT)) {
    writeFileSync(join(folder, `${id.replaceAll(':', '.')}.json`), JSON.stringify(texts));
  }
}

/** What the package holds of others: their licences, and the list of materials. */
async function writeSupplies(inputs) {
  const { packages } = readJson(join(ROOT, 'package-lock.json'));
  const folders = foldersOf(inputs);
  replace(LICENCES, licences(ROOT, folders, packages));
  const own = readJson(join(ROOT, 'package.json'));
  replace(SBOM, billOfMaterials(await npm(SBOM_ARGUMENTS), own, packages, folders, process.env.SOURCE_DATE_EPOCH));
}

function replace(file, text) {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Whether SQLite can be loaded; tried in another process, since a build for another Node may end the process. */
async function hasSqlite() {
  const program = `new (require('${SQLITE}'))(':memory:').close()`;
  return (await run(process.execPath, ['-e', program], { mayFail: true })) !== undefined;
}

const isThere = () => existsSync(join(ROOT, 'node_modules', SQLITE));

/** Only `molar serve`, `server` and `demo` need SQLite, so its absence is told and not an error. */
async function buildSqlite() {
  if (await hasSqlite()) return;
  if (IS_BUILT_HERE && isThere()) {
    say(`Building ${SQLITE} …`);
    // By default npm asks package.json of the checkout, or the user, whose scripts may be run.
    const allowed = ['--ignore-scripts=false', '--dangerously-allow-all-scripts'];
    if ((await npm(['rebuild', SQLITE, ...allowed], { mayFail: true })) !== undefined && (await hasSqlite())) return;
  }
  const what = IS_BUILT_HERE ? 'built' : 'installed';
  say(`${SQLITE} could not be ${what}: the embedded server (molar serve, server, demo) and its tests cannot run.`);
  if (IS_BUILT_HERE) say('It needs python3, make and g++ (macOS: xcode-select --install).');
  say('To try again: rm -rf node_modules && npm ci');
}

/** One preparation at a time: a lock file holds the process id and is taken over when that process is gone. */
async function locked(work) {
  for (let waits = 0; !takeLock(); waits++) {
    // By another preparation, which goes on to build.
    if (PACKAGES_ONLY && isInstalled()) return;
    const owner = existsSync(LOCK) ? Number(readFileSync(LOCK, 'utf8')) : 0;
    if (owner > 0 && !isRunning(owner)) rmSync(LOCK, { force: true });
    if (waits === 5) say(`Waiting for another preparation to end (process ${owner}, ${LOCK}) …`);
    await sleep(200);
  }
  try {
    await work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function prepare() {
  if (!isInstalled()) await install();
  // npm leaves an optional package out, without a word, when it cannot be installed for whatever reason.
  if (!isThere() && !isLinked()) await npm(['install', '--no-save', ...INSTALLING], { mayFail: true });
  if (PACKAGES_ONLY) return;
  const digest = inputsDigest();
  // To compile SQLite keeps one processor busy for most of a minute.
  const done = await Promise.allSettled([buildSqlite(), FORCED || !isBuilt(digest) ? build(digest) : undefined]);
  for (const { reason } of done) if (reason !== undefined) throw reason;
}

try {
  const ready = isInstalled() && (PACKAGES_ONLY || (!FORCED && (await hasSqlite()) && isBuilt(inputsDigest())));
  if (!ready) await locked(prepare);
} catch (error) {
  say(error instanceof Failed ? error.message : error.stack);
  process.exitCode = 1;
}
