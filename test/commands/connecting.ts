import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** Variables of an environment that says nothing about the connection. */
export const BARE = { MOLAR_URL: '', MOLAR_ORGANIZATION: '', MOLAR_TOKEN: '' };

/** A config folder of its own for each test. */
export function configFolder() {
  let path = '';
  beforeEach(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'molar-config-')), 'molar');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));
  const file = () => join(path, 'config.json');
  return {
    file,
    /** An environment that knows this folder and nothing else. */
    env: (more: Readonly<Record<string, string>> = {}) => ({ ...BARE, MOLAR_CONFIG_DIR: path, ...more }),
    read: async () => JSON.parse(await readFile(file(), 'utf8')),
    mode: async () => (await stat(file())).mode & 0o777,
    exists: () =>
      stat(file()).then(
        () => true,
        () => false,
      ),
  };
}
