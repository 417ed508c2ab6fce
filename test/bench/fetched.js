import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What people use instead, fetched from npm into `folder` when it is measured, since molar itself does without. Gives
 * the path of the package; undefined where it cannot be fetched, which the report says.
 */
export function fetched(folder, name, version, report) {
  mkdirSync(folder);
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`];
  const { status } = spawnSync('npm', args, { stdio: 'ignore' });
  if (status === 0) return join(folder, 'node_modules', name);
  report.note(`${name} ${version} is left out: it could not be fetched.`);
  return undefined;
}
