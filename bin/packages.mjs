#!/usr/bin/env node
// Makes of the archives in release/ what the package managers of each system take, and the installers: npm run packages.
import './oldnode.mjs';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { digestOf } from './archives/evidence.mjs';
import { makeDeb } from './packages/deb.mjs';
import { homebrew, scoop, winget } from './packages/manifests.mjs';
import { publicKeyOf, readRelease, signatureOf } from './packages/release.mjs';
import { makeRpm } from './packages/rpm.mjs';
import { layOut, run, unpacked } from './packages/tree.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const USAGE = `Makes packages and installers of the archives that npm run dist has made.

npm run packages -- --maintainer 'NAME <MAIL>' [--base-url URL --key FILE]
                    [--release FOLDER]

  --maintainer 'NAME <MAIL>'  Who answers for the packages
  --base-url URL   Where the folder is going to be published. With it come the
                   installers and the manifests of Homebrew, scoop and winget
  --key FILE       The Ed25519 key in PEM that SHA256SUMS was signed with, which
                   the installers check; a private one signs the packages, too
  --release FOLDER The folder of the archives; release when absent
`;

/** A command line that cannot be done; the message says why. */
class Refused extends Error {}

/** What was asked for, checked. */
function readFlags(args) {
  const text = { type: 'string' };
  const options = { maintainer: text, 'base-url': text, key: text, release: text, help: { type: 'boolean' } };
  const { values } = parseArgs({ args, options });
  if (values.help) return undefined;
  const { maintainer, 'base-url': base, key, release = join(ROOT, 'release') } = values;
  if (!/^[^<>\n"\\]+ <[^<>@\s]+@[^<>@\s]+>$/.test(maintainer ?? '')) {
    throw new Refused("--maintainer must be 'NAME <MAIL>'.");
  }
  if (base !== undefined && !/^https:\/\/[\w./:~%+-]*[^/]$/.test(base) && !/^http:\/\/127\.0\.0\.1[:/]/.test(base)) {
    throw new Refused('--base-url must be an https:// address, without a query or a slash at its end.');
  }
  if ((base === undefined) !== (key === undefined)) {
    throw new Refused('--base-url and --key go together: the installers at that address check the signature.');
  }
  return { maintainer, base, key: key && readFileSync(key, 'utf8'), folder: resolve(release) };
}

/** What the packages say of themselves. */
function describe({ maintainer, base }) {
  const { description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return {
    maintainer,
    homepage: base,
    license,
    summary: 'Command line for a dental practice-management API',
    description: `${description}.`,
  };
}

/** The time of the files, in seconds: of SOURCE_DATE_EPOCH, else of the commit. */
function readEpoch() {
  const { SOURCE_DATE_EPOCH } = process.env;
  return SOURCE_DATE_EPOCH ?? run('git', ['-C', ROOT, 'log', '-1', '--format=%ct']).trim();
}

/** Makes .deb and .rpm of each archive for Linux, and gives their names. */
function systemPackages({ version, archives }, folder, about, work) {
  const epoch = readEpoch();
  return archives
    .filter(({ os }) => os === 'linux')
    .flatMap(({ file, arch }) => {
      const top = unpacked(join(folder, file), join(work, arch));
      const made = (kind) => {
        const root = join(work, `${arch}-${kind}`);
        layOut(top, root);
        writeFileSync(
          join(root, 'usr/lib/molar/lib/origin.json'),
          `${JSON.stringify({ origin: `${kind} package` })}\n`,
        );
        return { root, facts: { version, arch, about, epoch } };
      };
      const [deb, rpm] = [made('deb'), made('rpm')];
      return [
        makeDeb(deb.root, folder, deb.facts),
        makeRpm(rpm.root, folder, join(work, `${arch}-rpmbuild`), rpm.facts),
      ];
    });
}

/** The texts that say where the release is published, by the names of their files. */
function publishedTexts(release, { base, key, folder }, about) {
  const publicKey = publicKeyOf(key, folder);
  const installer = (name) =>
    readFileSync(join(ROOT, 'bin/packages', name), 'utf8')
      .replaceAll('@BASE@', base)
      .replaceAll('@KEY@', publicKey);
  const facts = { base, about };
  return {
    'install.sh': installer('install.sh'),
    'install.ps1': installer('install.ps1'),
    ...homebrew(release, facts),
    ...scoop(release, facts),
    ...winget(release, facts),
  };
}

function makePackages(flags, work) {
  const { folder, key } = flags;
  const release = readRelease(folder);
  const about = describe(flags);
  // First what may be refused, since a package takes a minute.
  const texts = flags.base === undefined ? {} : publishedTexts(release, flags, about);
  const names = [...systemPackages(release, folder, about, work), ...Object.keys(texts)];
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const sums = names.map((name) => `${digestOf(join(folder, name))}  ${name}\n`).join('');
  writeFileSync(join(folder, 'SHA256SUMS-packages'), sums);
  const signature = key && signatureOf(sums, key);
  if (signature !== undefined) writeFileSync(join(folder, 'SHA256SUMS-packages.sig'), signature);
  process.stdout.write(`Made in ${folder}: ${names.join(', ')}.\n`);
}

process.umask(0o022);
const work = mkdtempSync(join(tmpdir(), 'molar-packages-'));
try {
  const flags = readFlags(process.argv.slice(2));
  if (flags === undefined) process.stdout.write(USAGE);
  else makePackages(flags, work);
} catch (error) {
  const isUsage = error instanceof Refused || error.code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`${error.message}\n${isUsage ? `\n${USAGE}` : ''}`);
  process.exitCode = isUsage ? 2 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
