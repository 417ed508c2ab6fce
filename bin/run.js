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
  } else if (!tellVersion(argv, join(root, 'package.json')) && !tellHelp(argv, join(root, 'dist', 'help'))) {
    keepCompiled(join);
    const { main } = await import('../dist/cli/main.js');
    await main(argv, root);
  }
}

/** Answers the most frequent question of scripts by itself; false where the long way knows more, or why it cannot. */
function tellVersion(argv, packageFile) {
  if (!['--version', '-v', '-V'].includes(argv[0])) return false;
  // Linux inside of Windows is called by another name.
  if (process.platform === 'linux' && /microsoft/i.test(process.getBuiltinModule('node:os').release())) return false;
  const { name, version } = JSON.parse(process.getBuiltinModule('node:fs').readFileSync(packageFile, 'utf8'));
  return tell(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
}

/** Copies the help of a command or topic, made by the build for where there is no terminal; false as above. */
function tellHelp(argv, folder) {
  const words = argv.slice(0, -1);
  if (!['--help', '-h'].includes(argv.at(-1)) || !words.every((word) => /^[a-z][a-z:-]*$/.test(word))) return false;
  if (process.platform === 'win32' || mayBeTerminal()) return false;
  const file = `${folder}/${words.join('.').replaceAll(':', '.')}.txt`;
  try {
    return tell(process.getBuiltinModule('node:fs').readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether standard output may be a terminal; to know it costs more than to copy the help. */
function mayBeTerminal() {
  const { fstatSync, statSync } = process.getBuiltinModule('node:fs');
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}

/** Writes all of a short text; false when it cannot, which the long way then tells. */
function tell(text) {
  const { writeSync } = process.getBuiltinModule('node:fs');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch ({ code }) {
      // A full pipe that does not wait for its reader: begun, the text must not begin anew.
      if (code !== 'EAGAIN' || at === 0) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
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
