#!/usr/bin/env node
// Starts molar from dist/. Modules of Node are asked for, not imported: an import of node:fs alone opens streams.
const MISSING = 'Error: molar has not been built yet.\nNext: Run npm install and npm run build here, or npm start.\n';
const TOO_OLD = `Error: molar needs Node 20.19 or newer; this is ${process.version}.\nNext: Install a newer Node.\n`;

if (process.getBuiltinModule === undefined || import.meta.dirname === undefined) fail(TOO_OLD);
else await run(process.argv.slice(2));

async function run(argv) {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { dirname, join } = process.getBuiltinModule('node:path');
  const root = dirname(import.meta.dirname);
  if (!existsSync(join(root, 'dist', 'cli', 'main.js')) || !existsSync(join(root, 'oclif.manifest.json'))) {
    fail(MISSING);
  } else if (!['--version', '-v', '-V'].includes(argv[0]) || !tellVersion(join(root, 'package.json'))) {
    keepCompiled(join);
    const { main } = await import('../dist/cli/main.js');
    await main(argv, root);
  }
}

/** Answers the most frequent question of scripts by itself; false where the long way knows more, or why it cannot. */
function tellVersion(packageFile) {
  const { readFileSync, writeSync } = process.getBuiltinModule('node:fs');
  // Linux inside of Windows is called by another name.
  if (process.platform === 'linux' && /microsoft/i.test(process.getBuiltinModule('node:os').release())) return false;
  const { name, version } = JSON.parse(readFileSync(packageFile, 'utf8'));
  try {
    writeSync(1, `${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
    return true;
  } catch {
    return false;
  }
}

/** Keeps compiled code between runs, where Node can (22.8): in the person's own cache, since others write to /tmp. */
function keepCompiled(join) {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const folder = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  if (folder) process.getBuiltinModule('node:module').enableCompileCache?.(join(folder, 'molar', 'compiled'));
}

function fail(text) {
  process.stderr.write(text);
  process.exitCode = 1;
}
