#!/usr/bin/env node
// Makes the archives that need no Node, in release/: `npm run dist`, or `npm run dist -- --target linux-x64 --sign KEY`.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { digestOf, materials, provenance, readKey, signFile, writeSums } from './archives/evidence.mjs';
import { packers, packTar, packZip } from './archives/pack.mjs';
import { DistFailure, npm, run } from './archives/programs.mjs';
import { stage } from './archives/stage.mjs';
import { NODE, ownTarget, TARGETS } from './archives/targets.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const NAMES = Object.keys(TARGETS);
const USAGE = `Makes archives of molar with Node ${NODE}, their checksums, list of materials and provenance.

npm run dist -- [--target NAME ...] [--sign KEY] [--level N] [--out FOLDER]

  --target NAME  ${NAMES.slice(0, 3).join(', ')},
                 ${NAMES.slice(3).join(', ')}; repeatable, all when absent
  --sign KEY     A file with an Ed25519 private key (PEM), to sign SHA256SUMS with
  --level N      How hard to compress, 0 to 9; 9 when absent
  --out FOLDER   Where to write; release when absent. What it held is removed
`;

const say = (text) => process.stderr.write(`${text}\n`);

/** The flags of the command line. Throws a DistFailure where one is wrong. */
function readFlags(args) {
  const text = { type: 'string' };
  const options = {
    target: { ...text, multiple: true },
    sign: text,
    level: text,
    out: text,
    help: { type: 'boolean' },
  };
  let values;
  try {
    values = parseArgs({ args, options }).values;
  } catch ({ message }) {
    throw new DistFailure(`${message}\n\n${USAGE}`);
  }
  const { target = NAMES, sign, level = '9', out = join(ROOT, 'release'), help } = values;
  const unknown = target.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new DistFailure(`There is no target ${unknown}; there are ${NAMES.join(', ')}.`);
  if (!/^\d$/.test(level)) throw new DistFailure(`--level is a digit, 0 to 9, not ${level}.`);
  return { targets: [...new Set(target)], key: sign && readKey(sign), level: Number(level), out: resolve(out), help };
}

/** The time that files get, in seconds: of SOURCE_DATE_EPOCH, else of the commit. */
function readEpoch() {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined && !/^\d+$/.test(given)) throw new DistFailure('SOURCE_DATE_EPOCH is a number of seconds.');
  return Number(given ?? run('git', ['log', '-1', '--format=%ct'], ROOT));
}

/** Gets the package of a Node from npm and unpacks it; gives its tarball and folder. Throws where its digest differs. */
function fetchNode(target, scratch) {
  const { node, integrity } = TARGETS[target];
  const folder = join(scratch, target);
  mkdirSync(folder);
  npm(process.execPath, ['pack', `${node}@${NODE}`, '--pack-destination', scratch], scratch);
  const tarball = join(scratch, `${node}-${NODE}.tgz`);
  const digest = `sha512-${Buffer.from(digestOf(tarball, 'sha512'), 'hex').toString('base64')}`;
  if (digest !== integrity) throw new DistFailure(`${node} ${NODE} has the digest ${digest}, not ${integrity}.`);
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder], scratch);
  return { tarball, folder };
}

function makeArchives({ targets, key, level, out }, scratch) {
  const host = ownTarget();
  if (host === undefined || process.platform === 'win32') throw new DistFailure('Archives are made on Linux or macOS.');
  const [epoch, tools] = [readEpoch(), { ...packers(), npm: npm(process.execPath, ['--version'], ROOT).trim() }];
  const nodes = {};
  for (const target of new Set([host, ...targets])) {
    say(`Getting Node ${NODE} for ${target} …`);
    nodes[target] = fetchNode(target, scratch);
  }
  npm(process.execPath, ['pack', '--pack-destination', scratch], ROOT);
  const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const base = JSON.parse(readFileSync(join(ROOT, 'sbom.json'), 'utf8'));
  const folders = Object.fromEntries(Object.entries(nodes).map(([target, { folder }]) => [target, folder]));
  const place = {
    root: ROOT,
    tarball: join(scratch, `${name}-${version}.tgz`),
    nodes: folders,
    host,
    scratch,
    version,
  };
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const shipped = {};
  for (const target of targets) {
    say(`Making the archive for ${target} …`);
    const { name: top, packages } = stage(target, place);
    const folder = join(scratch, top);
    writeFileSync(join(folder, 'lib', 'sbom.json'), materials(base, packages, [target], epoch));
    Object.assign(shipped, packages);
    if (TARGETS[target].os === 'win32') packZip(folder, join(out, `${top}.zip`), epoch, level);
    else packTar(folder, join(out, `${top}.tar.xz`), epoch, level);
    rmSync(folder, { recursive: true });
  }
  const archives = readdirSync(out).map((file) => join(out, file));
  writeFileSync(join(out, 'sbom.json'), materials(base, shipped, targets, epoch));
  const made = { root: ROOT, archives, targets, nodes, epoch, level, tools };
  writeFileSync(join(out, 'provenance.json'), provenance(made));
  const sums = writeSums(out);
  if (key) say(`Signed; the public key for minisign is ${signFile(sums, key, `molar ${version}`)}`);
  say(`${out} has ${readdirSync(out).join(', ')}.`);
}

function main() {
  const flags = readFlags(process.argv.slice(2));
  if (flags.help) return process.stdout.write(USAGE);
  const scratch = mkdtempSync(join(tmpdir(), 'molar-dist-'));
  try {
    return makeArchives(flags, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

try {
  main();
} catch (error) {
  say(error instanceof DistFailure ? error.message : error.stack);
  process.exitCode = 1;
}
