import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An environment with a names file. */
export function namesEnv(text: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'molar-names-'));
  mkdirSync(join(folder, 'names'));
  writeFileSync(join(folder, 'names', 'default.csv'), text);
  return { MOLAR_CONFIG_DIR: folder, TZ: 'UTC', ...more };
}
