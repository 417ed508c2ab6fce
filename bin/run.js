#!/usr/bin/env node
// Starts molar from dist/. Node's modules are got on demand, not imported: an import of node:fs alone opens streams.
const MISSING = 'Error: molar has not been built yet.\nNext: Run npm install and npm run build here, or npm start.\n';
const NEEDED = 'Node 20.19 or newer, and neither 21 nor 22.0 to 22.2';
const TOO_OLD = `Error: molar needs ${NEEDED}; this is ${process.version}.\nNext: Install a newer Node.\n`;

/** Words of a command line that determine which code it needs. */
const KINDS = '--help list get count create update delete report upload download export'.split(' ');
/** Node's own exit code when a promise that the program awaits is never settled. */
const NEVER_ENDED = 13;

if (process.getBuiltinModule === undefined) fail(TOO_OLD);
else void run(process.argv.slice(2));

async function run(argv) {
  const { existsSync } = process.getBuiltinModule('node:fs');
  const { dirname, join } = process.getBuiltinModule('node:path');
  const root = dirname(__dirname);
  if (!existsSync(join(root, 'dist', 'cli', 'main.js')) || !existsSync(join(root, 'oclif.manifest.json'))) {
    fail(MISSING);
  } else if (!tellVersion(argv, join(root, 'package.json')) && !tellHelp(argv, join(root, 'dist', 'help'))) {
    let isOver = false;
    // Not emitted when the exit was requested, as after a signal.
    process.once('beforeExit', () => {
      if (!isOver) process.exitCode ||= NEVER_ENDED;
    });
    await start(argv, root).finally(() => {
      isOver = true;
    });
  }
}

/** Answers the most frequent question of scripts without loading the program; false where only the program can. */
function tellVersion(argv, packageFile) {
  if (!['--version', '-v', '-V'].includes(argv[0])) return false;
  // Linux inside Windows (WSL) goes by another name.
  if (process.platform === 'linux' && /microsoft/i.test(process.getBuiltinModule('node:os').release())) return false;
  const { name, version } = JSON.parse(process.getBuiltinModule('node:fs').readFileSync(packageFile, 'utf8'));
  return tell(`${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`);
}

/** Copies the help that the build prepared for pipes and files, with examples for the user's shell; false as above. */
function tellHelp(argv, folder) {
  const words = argv.slice(0, -1);
  if (!['--help', '-h'].includes(argv.at(-1)) || !words.every((word) => /^[a-z][a-z:-]*$/.test(word))) return false;
  if (mayBeTerminal()) return false;
  try {
    const { shellOf } = require('../dist/shells/shell.js');
    const file = `${folder}/${words.join('.').replaceAll(':', '.')}.json`;
    const texts = JSON.parse(process.getBuiltinModule('node:fs').readFileSync(file, 'utf8'));
    return tell(texts[shellOf(process.env, process.platform)]);
  } catch {
    return false;
  }
}

/** Whether standard output may be a terminal; to find out for certain costs more than copying the help. */
function mayBeTerminal() {
  const { fstatSync, statSync } = process.getBuiltinModule('node:fs');
  try {
    const output = fstatSync(1);
    // Windows has no such file: what is no file or pipe there counts as a terminal.
    return output.isCharacterDevice() && output.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}

/** Writes all of a short text; false when it cannot: the program then reports why. */
function tell(text) {
  const { writeSync } = process.getBuiltinModule('node:fs');
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch ({ code }) {
      // A full non-blocking pipe: once part of the text is out, it must not start over.
      if (code !== 'EAGAIN' || at === 0) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}

/** Runs a command with a cache of compiled code, in the user's own cache folder, since others can write to /tmp. */
async function start(argv, root) {
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  const { join } = process.getBuiltinModule('node:path');
  const home = cacheHome(join);
  const folder = home && join(home, 'compiled');
  const dist = join(root, 'dist');
  const program = join(dist, 'cli', 'main.js');
  const isUsable = folder && isOwnFolder(folder);
  // Node has had a code cache of its own since 22.8; the rest of this function is for Node 20 (startup/node20.ts).
  if (isUsable && enableCompileCache) enableCompileCache(folder);
  if (!isUsable || enableCompileCache || !process.getuid) return require(program).main(argv, root);
  const { CodeCache, delayOptimizer } = require('../dist/cli/startup/node20.js');
  const kind = kindOf(argv);
  // Before anything is loaded: V8 accepts cached code only with the flags that it was compiled with.
  if (kind === 'upload') delayOptimizer();
  const cache = new CodeCache(dist, join(folder, `molar-${process.version}-${process.arch}`, kind), require);
  await cache.load(program).main(argv, root);
  // What failed early has not compiled what others need.
  if (!process.exitCode) cache.save();
}

/** The user's folder for what molar can make anew; undefined where the environment names none. */
function cacheHome(join) {
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA } = process.env;
  // Windows gives each user a folder that stays on the machine; its data folder for servers is beside it.
  if (process.platform === 'win32') return LOCALAPPDATA && join(LOCALAPPDATA, 'molar', 'cache');
  const home = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  return home && join(home, 'molar');
}

/** Whether a folder is there, or can be made, that nobody else can write to: Node runs what is in it. */
function isOwnFolder(folder) {
  const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const facts = lstatSync(folder);
    return !process.geteuid || (facts.isDirectory() && facts.uid === process.geteuid() && (facts.mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Commands that share code share a cache file; never a word that is not one of these, for it may be a name. */
function kindOf(argv) {
  return KINDS.find((kind) => argv.includes(kind)) ?? 'other';
}

function fail(text) {
  process.stderr.write(text);
  process.exitCode = 1;
}
