#!/usr/bin/env node
// `npm run test:nodes`: a working day on each line of Node, and tests on newer ones; `npm test` runs all of them on the
// Node that runs it.
//   npm run test:nodes                   what can differ between versions, on the last of them; the driver, on the first
//   npm run test:nodes -- all            everything that does not drive the built program, on each of them
//   npm run test:nodes -- test/core/…    some of them, on each
// MOLAR_TEST_NODES="24 26" chooses the newer versions.
import '../../bin/oldnode.mjs';
import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { temporaryFolder } from '../../bin/memory.mjs';
import { IN_PROCESS } from '../../bin/vitest.mjs';
import { findNode, IN_CI, makeCheckout, ROOT, workOn } from './checkout.mjs';
import { DIFFERS, DRIVER } from './differs.mjs';

/** The oldest Node that is supported, whose driver of SQLite is another one: a working day in this checkout. */
const OLDEST = '20.19';
const FITS_OLDEST = process.versions.node.startsWith('20.');
const LINES = (process.env.MOLAR_TEST_NODES ?? '22 24 26').split(' ');
const CLOSING = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\r?$/gm;

/** Runs a program of Node to its end; `told` gets what it prints, and what it says of failures goes where ours does. */
function node(program, args, { cwd = ROOT, env = {}, told = () => undefined } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', told);
  return new Promise((ended, failed) => child.once('error', failed).once('close', (code) => ended(code ?? 1)));
}

/** Runs tests on a version of Node, and counts them: what does not get as far as its closing line has failed. */
async function testsOn({ program }, checkout, files) {
  let tail = '';
  const told = (text) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-4000);
  };
  const env = { ...temporaryFolder(), PATH: [dirname(program), process.env.PATH].join(delimiter) };
  // The order of tests is that of a commit, which a copy without git does not know; here it is as written.
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...IN_PROCESS, '--no-sequence.shuffle.tests', ...files];
  const code = await node(program, args, { cwd: checkout, env, told });
  const [, passed = 0, failed = 1, skipped = 0] = [...tail.matchAll(CLOSING)].at(-1) ?? [];
  return { code, counts: [passed, failed, skipped].map(Number) };
}

/** Tells whether something is as it has to be, and counts it as one test. */
function judged(what, problems) {
  process.stdout.write(problems.length === 0 ? `✓ ${what}\n` : `✗ ${what}\n  ${problems.join('\n  ')}\n`);
  return problems.length === 0 ? { code: 0, counts: [1, 0, 0] } : { code: 1, counts: [0, 1, 0] };
}

/** What to say of versions that cannot be tested here, and why; in CI that is a failure. */
function notTested(line, why) {
  process.stderr.write(`Not tested: Node ${line}: ${why}\n`);
  return { code: 0, counts: [0, IN_CI ? 1 : 0, 0] };
}

/** `filesOn`: the tests to run on one of the versions that were found; undefined: none. */
async function testAll(filesOn) {
  const [oldest, ...newer] = await Promise.all([OLDEST, ...LINES].map(findNode));
  const found = newer.filter(({ program }) => program !== undefined);
  const results = [oldest, ...newer]
    .filter(({ program }) => program === undefined)
    .map(({ line, missing }) => notTested(line, `npm has not kept it; get it with ${missing}`));
  if (oldest.program !== undefined)
    results.push(
      FITS_OLDEST
        ? judged(`a working day on Node ${OLDEST}`, await workOn(oldest, ROOT))
        : notTested(OLDEST, 'the driver of SQLite in this checkout is of another Node; run this with Node 20'),
    );
  if (found.length === 0) return results;
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'molar-nodes-')));
  try {
    const checkout = join(folder, 'checkout');
    const what = `npm start and npm ci on Node ${found[0].line} build nothing and need nothing but Node`;
    const problems = await makeCheckout(found[0], checkout);
    if (!IN_CI && problems.some((problem) => problem.includes('ENOTCACHED')))
      return [...results, notTested(found[0].line, 'npm has not kept the packages that it needs')];
    results.push(judged(what, problems));
    if (problems.length > 0) return results;
    for (const each of found) {
      results.push(judged(`a working day on Node ${each.line}`, await workOn(each, checkout)));
      const files = filesOn(each, found);
      if (files !== undefined) results.push(await testsOn(each, checkout, files));
    }
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What an earlier version has changed, the last one has, too; but not what the first lacks for the driver. */
function shortOn(version, versions) {
  const files = version === versions.at(-1) ? DIFFERS : version === versions[0] ? DRIVER : undefined;
  return files?.map((path) => `test/${path}`);
}

async function main([first, ...more]) {
  const filesOn = first === undefined ? shortOn : () => (first === 'all' ? more : [first, ...more]);
  const isBuilt = (await node(process.execPath, ['bin/prepare.mjs'])) === 0;
  const results = isBuilt ? await testAll(filesOn) : [{ code: 1, counts: [0, 1, 0] }];
  const [passed, failed, skipped] = [0, 1, 2].map((at) => results.reduce((sum, { counts }) => sum + counts[at], 0));
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  return results.every(({ code }) => code === 0) && failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
