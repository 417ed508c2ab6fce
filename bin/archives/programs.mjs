// Programs that the making of archives runs.
import { spawnSync } from 'node:child_process';

/** What the person who makes archives can do something about: its message is all that has to be said. */
export class DistFailure extends Error {}

/** Not the language, time zone and habits of this machine: what is made has to be the same everywhere. */
const SAME = { LC_ALL: 'C', TZ: 'UTC', TAR_OPTIONS: '', XZ_DEFAULTS: '', XZ_OPT: '' };

/**
 * Runs a program quietly and gives its standard output. Throws a DistFailure with all it printed when it
 * fails.
 */
export function run(program, args, cwd) {
  const done = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...SAME },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (done.status === 0) return done.stdout;
  const said = [done.error?.message, done.stdout, done.stderr].filter(Boolean).join('\n').trim();
  throw new DistFailure(`${[program, ...args].join(' ')} failed (${done.signal ?? done.status}):\n${said}`);
}

/** Runs the npm that runs this script, by a Node; as `run`. */
export function npm(node, args, cwd) {
  const file = process.env.npm_execpath;
  if (!file?.endsWith('npm-cli.js')) throw new DistFailure('Archives are made by npm: npm run dist.');
  return run(node, [file, ...args, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], cwd);
}
