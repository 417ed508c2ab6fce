import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSecret } from '../../../src/cli/account/loginsecret.ts';
import type { Context } from '../../../src/cli/context.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-login-'));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  [' two words ', ' two words '],
  [' two words \n', ' two words '],
  ['secret\r\n', 'secret'],
  ['secret\n\n', 'secret\n'],
])('a client secret in a file keeps all but the end of its line: %j', async (written, clientSecret) => {
  const file = join(folder, 'secret');
  await writeFile(file, written);
  const flags = { 'client-id': ' kiosk ', 'client-secret-file': file };
  const secret = await readSecret(flags, { env: {} } as Context, undefined);
  expect(secret).toEqual({ kind: 'client', clientId: 'kiosk', clientSecret });
});
