import { spawn } from 'node:child_process';
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { cleanEnv, type Ended, exit, text } from '../molar.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
export const MAINTAINER = 'Example Dental <molar@example.com>';

/** A key of those who publish, and its private half in PEM. */
export function newKey(): { readonly key: KeyObject; readonly pem: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { key: privateKey, pem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
}

export const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex');

export async function run(program: string, args: readonly string[], env = {}, cwd = '/'): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: cleanEnv(env), stdio: ['ignore', 'pipe', 'pipe'] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  const [stdout, stderr, code] = await Promise.race([
    Promise.all([text(child.stdout), text(child.stderr), exit(child)]),
    failed,
  ]);
  return { code, stdout, stderr };
}

/** Runs a program that has to succeed, and gives what it printed. */
export async function done(program: string, args: readonly string[], env = {}): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, env);
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** A program that says of itself what molar says, in place of molar; `--version` is all that installers ask. */
const standIn = (version: string) => `#!/bin/sh
case $1 in
  --version) echo "molar-cli/${version} linux-x64 node-v22.0.0" ;;
  config) echo "$HOME/.config/molar/config.json" ;;
esac
`;

/** What is in the archives of a version, besides what all have. */
export interface Contents {
  /** The program; one that answers `--version` when absent. */
  readonly program?: string | Uint8Array;
  /** Manual pages, `molar.1` and `molar-filters.7` when absent. */
  readonly pages?: readonly string[];
}

/** Makes the archives of a version in a folder, with their sums and signature: only those for Linux have something in them. */
export async function makeRelease(folder: string, version: string, key: KeyObject, contents: Contents = {}) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const target of ['linux-x64', 'linux-arm64']) await makeArchive(folder, `molar-${version}-${target}`, contents);
  for (const name of ['macos-x64.tar.xz', 'macos-arm64.tar.xz', 'windows-x64.zip', 'windows-arm64.zip']) {
    await writeFile(join(folder, `molar-${version}-${name}`), `An archive for ${name}`);
  }
  await writeSums(folder, key);
}

async function makeArchive(
  folder: string,
  name: string,
  { program, pages = ['molar.1', 'molar-filters.7'] }: Contents,
) {
  const version = name.split('-')[1] ?? '';
  const files: Record<string, string | Uint8Array> = {
    'bin/molar': program ?? standIn(version),
    'lib/CHANGELOG.md': '# Changelog',
    'lib/package.json': '{}',
    // So that neither a download nor a file fits into what the tests leave of a disk.
    'lib/large': randomBytes(200_000),
    LICENSE: 'MIT',
    'THIRD-PARTY-LICENSES': 'MIT too',
    'share/completions/molar.bash': 'complete -F _molar molar\n',
    'share/completions/molar.fish': 'complete --command molar\n',
    'share/completions/_molar': '#compdef molar\n',
    'share/completions/molar.ps1': 'Register-ArgumentCompleter\n',
    ...Object.fromEntries(pages.map((page) => [`share/man/man${page.at(-1)}/${page}`, `.TH ${page} ${version}\n`])),
  };
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, name, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  await chmod(join(folder, name, 'bin/molar'), 0o755);
  await done('tar', ['-cJf', join(folder, `${name}.tar.xz`), '-C', folder, name]);
  await rm(join(folder, name), { recursive: true });
}

/** Writes SHA256SUMS of what is in a folder, and its signature. */
export async function writeSums(folder: string, key: KeyObject): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^molar-.*\.(?:xz|zip)$/.test(name)).sort();
  const lines = names.map(async (name) => `${sha256(await readFile(join(folder, name)))}  ${name}\n`);
  const sums = (await Promise.all(lines)).join('');
  await writeFile(join(folder, 'SHA256SUMS'), sums);
  await writeFile(join(folder, 'SHA256SUMS.sig'), sign(null, Buffer.from(sums), key));
}

/** install.sh as packages.test.ts finds it made of a release at an address: it is of nothing but that and the key. */
export async function installerOf(base: string, key: KeyObject): Promise<string> {
  const publicKey = createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString().trim();
  const script = await readFile(join(ROOT, 'bin/packages/install.sh'), 'utf8');
  return script.replaceAll('@BASE@', base).replaceAll('@KEY@', publicKey);
}

/** Skips where a program is missing; where all tests have to run (CI=true) it fails. */
export async function needs({ skip }: TestContext, program: string): Promise<void> {
  if ((await run('sh', ['-c', `command -v ${program}`])).code === 0) return;
  if (process.env.CI === 'true') expect.fail(`CI needs ${program}.`);
  skip(`${program} is not installed`);
}

/** Runs bin/packages.mjs. */
export function packages(args: readonly string[], env = {}): Promise<Ended> {
  return run(process.execPath, [join(ROOT, 'bin/packages.mjs'), ...args], env);
}
