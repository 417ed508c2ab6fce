// The files of an archive, laid out as Linux distributions want them.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Where each shell looks for completion, by what the names of its files end with. */
const COMPLETIONS = [
  [/\.bash$/, 'usr/share/bash-completion/completions/molar'],
  [/\.fish$/, 'usr/share/fish/vendor_completions.d/molar.fish'],
  [/^_molar$/, 'usr/share/zsh/site-functions/_molar'],
];

/** Unpacks an archive below `folder`, and gives the one folder that is in it. */
export function unpacked(archive, folder) {
  mkdirSync(folder, { recursive: true });
  run('tar', ['--extract', '--no-same-owner', '--file', archive, '--directory', folder]);
  const [top, ...more] = readdirSync(folder);
  if (top === undefined || more.length > 0) throw new Error(`${basename(archive)} must hold one folder.`);
  return join(folder, top);
}

/** Puts an unpacked archive where a distribution has its programs, pages and completions, below `root`. */
export function layOut(top, root) {
  const place = (from, to, copy = cpSync) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copy(join(top, from), join(root, to));
  };
  const tree = (from, to) => cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const name of ['bin', 'lib']) place(name, `usr/lib/molar/${name}`, tree);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  symlinkSync('../lib/molar/bin/molar', join(root, 'usr/bin/molar'));
  for (const page of namesIn(top, 'share/man', { recursive: true }).filter((name) => /\.\d$/.test(name))) {
    place(`share/man/${page}`, `usr/share/man/${page}.gz`, zipped);
  }
  for (const name of namesIn(top, 'share/completions')) {
    const to = COMPLETIONS.find(([pattern]) => pattern.test(name))?.[1];
    if (to !== undefined) place(`share/completions/${name}`, to, copyFileSync);
  }
  place('LICENSE', 'usr/share/doc/molar/copyright', copyFileSync);
  place('lib/CHANGELOG.md', 'usr/share/doc/molar/changelog.gz', zipped);
  place('THIRD-PARTY-LICENSES', 'usr/share/doc/molar/THIRD-PARTY-LICENSES.gz', zipped);
}

function namesIn(top, folder, options) {
  return existsSync(join(top, folder)) ? readdirSync(join(top, folder), options).sort() : [];
}

/** Without the time, so that the same page is the same file. */
function zipped(from, to) {
  writeFileSync(to, gzipSync(readFileSync(from), { level: 9 }));
}

/** Runs a program, and gives what it printed; throws with all it said where it failed or is missing. */
export function run(program, args, env = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 64 * 2 ** 20,
  });
  if (error?.code === 'ENOENT') throw new Error(`${program} is needed, and is not installed.`);
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}
