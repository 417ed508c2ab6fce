import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { need } from '../support/capabilities.ts';
import { exit, molar, start, workplace } from './molar.ts';

/** What makes a folder the temporary one: the first elsewhere, the others on Windows. */
const temporary = (path: string) => ({ TMPDIR: path, TEMP: path, TMP: path });

test('the demo runs a working day, gets a document back byte for byte, and cleans up', async () => {
  const place = await workplace();
  const { code, stdout, stderr } = await molar(place.path, ['demo'], { ...temporary(place.path), MOLAR_SHELL: 'sh' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('$ molar patients list');
  expect(stdout).toMatch(/patients\.csv has \d+ rows/);
  expect(stdout).toMatch(/Check: buckets .+ = balance/);
  expect(stdout).toContain('$ molar documents upload consent.pdf panorama.png');
  expect(stdout.match(/ Case conference$/gm)).toHaveLength(7);
  // Of all patients only the one that moved is exported again.
  expect(stdout).toMatch(
    /patients\.changes\.[-0-9TZ]+\.csv:\nid,[^\n]+,address1\n\d+,[^\n]+,12 New Street\n\nThat was/,
  );
  expect(stdout).toMatch(/copy\.pdf and consent\.pdf are identical: \d+ bytes/);
  expect(await readdir(place.path)).toEqual([]);
  await place.remove();
});

test('--keep says how to reach the server, which then answers until it is interrupted', async (context) => {
  need(context, 'signals');
  const place = await workplace();
  const child = start(place.path, ['demo', '--keep'], temporary(place.path));
  const ended = exit(child);
  let file = '';
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    file = /^ {2}source '?(.+?)'?$/.exec(line)?.[1] ?? file;
    if (line.startsWith('Ctrl-C')) break;
  }
  const lines = (await readFile(file, 'utf8')).matchAll(/^export (\w+)='(.*)'$/gm);
  const env = Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
  expect(await molar(place.path, ['patients', 'count'], env)).toEqual({ code: 0, stdout: '2000\n', stderr: '' });
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(await readdir(place.path)).toEqual([]);
  await place.remove();
});
