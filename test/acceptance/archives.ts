import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { TestContext } from 'vitest';
import { cleanEnv, type Ended, exit, text } from './molar.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macos', win32: 'windows' };

/** The target of the archive that runs on this machine. */
export const OWN = `${SYSTEMS[process.platform] ?? process.platform}-${process.arch}`;

/** What `file` says of machine code, by target. */
export const CODE: Readonly<Record<string, RegExp>> = {
  'linux-arm64': /^ELF 64-bit LSB .*, ARM aarch64,/,
  'linux-x64': /^ELF 64-bit LSB .*, x86-64,/,
  'macos-arm64': /^Mach-O 64-bit arm64 /,
  'macos-x64': /^Mach-O 64-bit x86_64 /,
  'windows-arm64': /^PE32\+ .* Aarch64,/,
  'windows-x64': /^PE32\+ .* x86-64,/,
};

/** Whether this is `npm run test:dist`: all targets, twice, as hard compressed as for a release. */
export const IS_RELEASE = process.env.MOLAR_DIST_TARGETS === 'all';

/** The targets that are made. */
export const TARGETS = IS_RELEASE ? Object.keys(CODE) : [OWN];

/** Unpacks an archive into a folder, which is made, by programs that had no part in making it. */
export async function unpack(archive: string, folder: string, env = cleanEnv({})): Promise<void> {
  await mkdir(folder, { recursive: true });
  const ended = archive.endsWith('.zip')
    ? await run('python3', ['-m', 'zipfile', '-e', archive, folder])
    : await run('tar', ['-xJf', archive, '-C', folder], { env });
  if (ended.code !== 0) throw new Error(ended.stderr);
}

/** Runs a program to its end; one that is not there ends with 127, as in a shell. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd = ROOT, env = cleanEnv({}), input = '' }: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  // A program that ends without reading is judged by what it says.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const missing = new Promise<number>((found) => child.once('error', () => found(127)));
  const ended = Promise.race([exit(child), missing]);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** Skips a test where a program is missing that .ci/run installs. */
export async function needs(program: string, { skip }: TestContext): Promise<void> {
  const { code } = await run('sh', ['-c', `command -v ${program}`]);
  if (code !== 0 && process.env.CI !== 'true') skip(`${program} is not installed`);
}

/** Runs `npm run dist` with flags, in this checkout. */
export function dist(args: readonly string[], env = cleanEnv({})): Promise<Ended> {
  return run('npm', ['run', '--silent', 'dist', '--', ...args], { env });
}

/** In place of xz: what it is to pack and unpack stays as it is. Anything else that it may be asked for fails. */
const PACKING_NOTHING = `#!/bin/sh
case "$*" in
  --version) echo 'xz (in name only)' ;;
  '--threads=1 -0 '/*.tar) mv "$3" "$3.xz" ;;
  -d) exec cat ;;
  *) echo "xz was not to be asked for: $*" >&2; exit 1 ;;
esac
`;

/**
 * An environment in which xz packs nothing, made in a folder: to pack and unpack a Node takes longer than to make all else of
 * an archive. What xz itself makes of a folder, test/house/archives.test.ts says, and of a release, `npm run test:dist`.
 */
export async function withoutPacking(folder: string): Promise<Record<string, string>> {
  await mkdir(folder);
  await writeFile(join(folder, 'xz'), PACKING_NOTHING, { mode: 0o755 });
  return cleanEnv({ PATH: `${folder}:${process.env.PATH}` });
}

/**
 * Runs `npm run dist` as somebody else would: in another time zone and language, with other rights, habits and
 * temporary files.
 */
export async function distElsewhere(args: readonly string[], place: string): Promise<Ended> {
  const TMPDIR = join(place, 'temporary');
  await mkdir(TMPDIR);
  const habits = { TAR_OPTIONS: '--owner=7', XZ_OPT: '-2', XZ_DEFAULTS: '--check=none' };
  const SOURCE_DATE_EPOCH = (await run('git', ['log', '-1', '--format=%ct'])).stdout.trim();
  const env = cleanEnv({
    TMPDIR,
    SOURCE_DATE_EPOCH,
    TZ: 'Pacific/Auckland',
    LC_ALL: 'C.UTF-8',
    LANG: 'C.UTF-8',
    ...habits,
  });
  return run('sh', ['-c', 'umask 077; exec npm run --silent dist -- "$@"', 'sh', ...args], { env });
}

/** What is started of an archive, by its system: below its folder. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  linux: ['bin/molar'],
  macos: ['bin/molar', 'libexec/node'],
  windows: ['bin/molar.exe'],
};

/** What `file` says of the machine code in the folder of an archive, and which programs it has. */
export async function machineCode(folder: string) {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const { stdout } = await run('file', ['--brief', '--files-from', '-'], { input: files.join('\n') });
  const paths = files.map((path) => relative(folder, path));
  return {
    glibc: Math.max(...(await Promise.all(files.map(neededGlibc)))),
    code: stdout.split('\n').filter((kind) => /^(?:ELF|Mach-O|PE32|MS-DOS)/.test(kind)),
    programs: paths.filter((path) => /^(?:bin|libexec)\//.test(path)).sort(),
  };
}

/** The n of the newest glibc 2.n that a program or library of Linux asks for; 0 for what asks for none. */
async function neededGlibc(file: string): Promise<number> {
  const content = await readFile(file);
  if (content.toString('latin1', 1, 4) !== 'ELF') return 0;
  const versions = content.toString('latin1').matchAll(/\0GLIBC_2\.(\d+)(?=[.\0])/g);
  return Math.max(0, ...[...versions].map(([, minor]) => Number(minor)));
}

/** Where the certificates of a Windows program of 64 bits are, by its header; 0 and 0 for one that is not signed. */
export function certificates(program: Buffer): { readonly at: number; readonly size: number } {
  const directory = program.readUInt32LE(0x3c) + 0xa8;
  return { at: program.readUInt32LE(directory), size: program.readUInt32LE(directory + 4) };
}

export const digest = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

export const json = async (file: string) => JSON.parse(await readFile(file, 'utf8'));

/** The packages in a folder node_modules, `name@version` by what they say of themselves. */
export async function packagesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((path) =>
    /^(?:@[^/]+\/)?[^@/]+\/package\.json$/.test(path),
  );
  const packages = await Promise.all(files.map((path) => json(join(folder, path))));
  return packages.map(({ name, version }) => `${name}@${version}`);
}

/** A PNG of 2 × 2 pixels. */
export const PIXELS = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFElEQVR4nGM4wSCnYWTDcIILRAEAFyQDAy2tZR8AAAAASUVORK5CYII=',
  'base64',
);
