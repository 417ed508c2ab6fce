import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { need } from '../support/capabilities.ts';
import { copyWithoutImages, exit, molar, start, text, workplace } from './molar.ts';

/** What makes a folder the temporary one: the first elsewhere, the others on Windows. */
const temporary = (path: string) => ({ TMPDIR: path, TEMP: path, TMP: path });

// That it ends by itself without --keep is said by test/cli/serving/demo.test.ts. It takes seconds to fill the practice: so it is
// once, where there is no sharp, which is optional; test/demo/documents.test.ts says that its crops are of pictures.
test('without sharp, the demo runs a working day, gets a document back byte for byte, answers until it is interrupted, and cleans up', async (context) => {
  need(context, 'signals');
  const place = await workplace();
  const folder = join(place.path, 'temporary');
  await mkdir(folder);
  const run = await copyWithoutImages(join(place.path, 'molar'));
  const child = start(folder, ['demo', '--keep'], { ...temporary(folder), MOLAR_SHELL: 'sh' }, run);
  const [ended, errors] = [exit(child), text(child.stderr)];
  let stdout = '';
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    stdout += `${line}\n`;
    if (line.startsWith('Ctrl-C')) break;
  }
  expect(stdout, await Promise.race([errors, 'The demo goes on.'])).toContain('$ molar patients list');
  expect(stdout).toMatch(/patients\.csv has \d+ rows/);
  expect(stdout).toMatch(/Check: buckets .+ = balance/);
  expect(stdout).toContain('$ molar documents upload consent.pdf panorama.png');
  expect(stdout.match(/ Case conference$/gm)).toHaveLength(7);
  // Of all patients only the one that moved is exported again.
  expect(stdout).toMatch(
    /patients\.changes\.[-0-9TZ]+\.csv:\nid,[^\n]+,address1\n\d+,[^\n]+,12 New Street\n\nThe server keeps running/,
  );
  expect(stdout).toMatch(/copy\.pdf and consent\.pdf are identical: \d+ bytes/);
  const [, file = ''] = /^ {2}source '?(.+?)'?$/m.exec(stdout) ?? [];
  const lines = (await readFile(file, 'utf8')).matchAll(/^export (\w+)='(.*)'$/gm);
  const env = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  expect(await molar(folder, ['patients', 'count'], env, '', run)).toEqual({ code: 0, stdout: '2000\n', stderr: '' });
  const files = await readdir(folder, { recursive: true });
  expect(files.filter((name) => name.endsWith('-original')).length).toBeGreaterThan(10);
  expect(files.filter((name) => name.endsWith('-cropped'))).toEqual([]);
  child.kill('SIGINT');
  expect([await ended, await errors]).toEqual([0, '']);
  expect(await readdir(folder)).toEqual([]);
  await place.remove();
});
