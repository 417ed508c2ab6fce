// The folder that an archive holds, made of the npm package.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { BESIDE } from '../licences.mjs';
import { writeLauncher } from './executable.mjs';
import { npm, run } from './programs.mjs';
import { NODE, TARGETS } from './targets.mjs';

/** The driver of SQLite that the Node of the archives never loads, and the one that it does (src/sqlite/open.ts). */
const UNUSED = 'better-sqlite3';
const SQLITE = 'better-sqlite3-node-api';

/** Files that complete command lines, by the shell that each is for; zsh finds its own by this name. */
const COMPLETIONS = { bash: 'molar.bash', zsh: '_molar', fish: 'molar.fish', powershell: 'molar.ps1' };

/** What an archive says instead of what the npm package does. */
const INSIDE = `Those of these that fit this system are in lib/node_modules, each with its own licence in its folder. Machine code
that is under the LGPL, libvips for images, is a library of its own file that is loaded when an image is cut or scaled;
it can be replaced by another build of it.`;

/**
 * Makes the folder of an archive in `scratch` and gives `{ name, packages }`: its name, and the packages beside molar
 * by their paths, as npm's lock files have them. `root` is the checkout, `tarball` its npm package, `nodes` the folders
 * of the Node packages by target, of which `host` is that of this machine.
 */
export function stage(target, { root, tarball, nodes, host, scratch, version }) {
  const name = `molar-${version}-${target}`;
  const folder = join(scratch, name);
  const lib = join(folder, 'lib');
  const share = join(folder, 'share');
  const hostNode = nodeIn(nodes[host], host);
  mkdirSync(lib, { recursive: true });
  mkdirSync(join(share, 'completions'), { recursive: true });
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', lib], scratch);
  const packages = installPackages(TARGETS[target], root, lib, hostNode);
  writeFileSync(join(lib, 'origin.json'), `${JSON.stringify({ origin: `archive ${name}` })}\n`);
  writeLauncher(TARGETS[target], folder, nodeIn(nodes[target], target), hostNode, scratch);
  renameSync(join(lib, 'man'), join(share, 'man'));
  for (const [shell, file] of Object.entries(COMPLETIONS)) {
    const script = run(hostNode, [join(root, 'bin', 'run.js'), 'autocomplete', shell], scratch);
    writeFileSync(join(share, 'completions', file), script);
  }
  copyFileSync(join(lib, 'LICENSE'), join(folder, 'LICENSE'));
  const others = readFileSync(join(lib, 'THIRD-PARTY-LICENSES'), 'utf8').replace(BESIDE, INSIDE);
  rmSync(join(lib, 'THIRD-PARTY-LICENSES'));
  // The packages for Windows come without it; Node's licence is the same for all systems.
  const licence = readFileSync(join(nodes[host], 'LICENSE'), 'utf8');
  const licences = `${others}\n${'-'.repeat(80)}\n\nNode ${NODE}\n\n${licence}`;
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licences);
  writeFileSync(join(folder, 'README.txt'), readme(version, target));
  return { name, packages };
}

/** The program in the folder of a Node package. */
function nodeIn(folder, target) {
  const file = join(folder, 'bin', TARGETS[target].os === 'win32' ? 'node.exe' : 'node');
  chmodSync(file, 0o755);
  return file;
}

/** Installs what package-lock.json has for the target, and takes away what is of no use there. */
function installPackages({ os, cpu }, root, lib, hostNode) {
  copyFileSync(join(root, 'package-lock.json'), join(lib, 'package-lock.json'));
  npm(hostNode, ['uninstall', UNUSED, '--package-lock-only'], lib);
  npm(hostNode, ['ci', '--omit=dev', `--os=${os}`, `--cpu=${cpu}`, '--libc=glibc'], lib);
  const modules = join(lib, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  for (const name of ['deps', 'src', 'binding.gyp']) rmSync(join(modules, SQLITE, name), { recursive: true });
  const prebuilds = join(modules, SQLITE, 'prebuilds');
  for (const file of readdirSync(prebuilds)) if (file !== `${os}-${cpu}.node`) rmSync(join(prebuilds, file));
  // They name the registry, and whoever has these files needs no npm.
  rmSync(join(lib, 'package-lock.json'));
  rmSync(join(modules, '.package-lock.json'));
  rmSync(join(modules, '.bin'), { recursive: true, force: true });
  return packages;
}

/** What somebody needs to know who has just unpacked the archive. */
function readme(version, target) {
  const isWindows = TARGETS[target].os === 'win32';
  const lines = [
    `molar ${version} for ${target}, with Node ${NODE}: nothing else has to be installed.`,
    '',
    `Start it:        ${isWindows ? 'bin\\molar.exe demo' : 'bin/molar demo'}`,
    isWindows
      ? 'From anywhere:   add the folder bin to the PATH of your account'
      : 'From anywhere:   ln -s "$PWD/bin/molar" ~/.local/bin/molar   (or add bin to PATH)',
    `Manual:          ${isWindows ? 'bin\\molar.exe help' : 'man -M share/man molar'}`,
    'Completion:      source the file of your shell in share/completions (zsh: add the folder to fpath)',
    'Update:          unpack the new archive and put it in the place of this folder',
    'Remove:          delete this folder; settings and data lie elsewhere and stay',
    NEEDS[TARGETS[target].os],
    'Licences:        LICENSE, THIRD-PARTY-LICENSES, and those in the folders of lib/node_modules',
  ];
  return `${lines.join('\n')}\n`.replaceAll('\n', isWindows ? '\r\n' : '\n');
}

const NEEDS = {
  linux: 'Needs:           glibc 2.34 or newer: Debian 12, Ubuntu 22.04, RHEL 9 (not Alpine)',
  darwin: 'Needs:           macOS 11 or newer',
  win32: 'Needs:           Windows 10 or newer; the program is not signed, so Windows may ask once',
};
