import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An environment with a names file. */
export function namesEnv(text: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'molar-names-'));
  mkdirSync(join(folder, 'names'));
  writeFileSync(join(folder, 'names', 'default.csv'), text);
  return { MOLAR_CONFIG_DIR: folder, TZ: 'UTC', ...more };
}

/** An editor, whose file has a space in its path, that runs a line of the shell; `$2` is the file to edit. */
export function editor(line: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'an editor ')), 'editor.sh');
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o700);
  return `'${path}' -x`;
}
