import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { molar, workplace } from './molar.ts';

test('the demo runs a working day, gets a document back byte for byte, and cleans up', async () => {
  const place = await workplace();
  const { code, stdout, stderr } = await molar(place.path, ['demo'], { TMPDIR: place.path });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('$ molar patients list');
  expect(stdout).toMatch(/patients\.csv has \d+ rows/);
  expect(stdout).toMatch(/Check: buckets .+ = balance/);
  expect(stdout).toContain('$ molar documents upload consent.pdf panorama.png');
  expect(stdout.match(/ Case conference$/gm)).toHaveLength(7);
  expect(stdout).toMatch(/id,lastName,address1,lastModified\n\d+,[^\n]+,12 New Street,[^\n]+\n\nThat was/);
  expect(stdout).toMatch(/copy\.pdf and consent\.pdf are identical: \d+ bytes/);
  expect(await readdir(place.path)).toEqual([]);
  await place.remove();
});
