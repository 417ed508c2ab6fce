import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, PATIENT } from './molar.ts';
import { servedPractice } from './servedpractice.ts';

const practice = servedPractice(9);

/** Runs `documents upload` in the folder; gives the exit code and what is there of reports afterwards. */
async function upload(args: readonly string[]) {
  const line = ['documents', 'upload', ...args, '--csv', '--fields', 'name,ownerPatient.id,userDefinedDate'];
  const { code, stdout, stderr } = await molarIn(practice.path, line, connection(practice.served.url));
  const reports = (await readdir(practice.path)).filter((name) => name.startsWith('molar-'));
  return { code, stdout, stderr, reports };
}

test('files by name and birth date, then those that a person has looked at, each once', async () => {
  const paths = [
    'scans/SMITH, First0 1980-02-29/2026-01-02-Bitewing.pdf',
    'scans/A\u030agren, First4 19800229/Letter.pdf',
    'scans/Nguyen, First2/Consent.pdf',
  ];
  for (const path of paths) {
    await mkdir(dirname(join(practice.path, path)), { recursive: true });
    await writeFile(join(practice.path, path), `%PDF-1.7\n${path}\n`);
  }
  const line = ['scans', '--layout', 'name-folders', '--layout', '{last}, {first}/{name}'];
  const first = await upload(line);
  expect(first).toMatchObject({
    code: 6,
    stdout: `name,ownerPatient.id,userDefinedDate\nLetter.pdf,${PATIENT + 4},\nBitewing.pdf,${PATIENT},2026-01-02\n`,
    stderr: expect.stringContaining('1 file: Last and first name alone do not say who the patient is.'),
    reports: ['molar-results.csv', 'molar-results.csv.journal', 'molar-review.csv'],
  });
  const review = await readFile(join(practice.path, 'molar-review.csv'), 'utf8');
  expect(review).toMatch(new RegExp(`,reason,candidates\n.*,Consent,,,,,.*,${PATIENT + 2}\n$`));
  await writeFile(join(practice.path, 'molar-review.csv'), review.replace(',Consent,,', `,Consent,${PATIENT + 2},`));
  const second = await upload(['--manifest', 'molar-review.csv']);
  expect(second).toMatchObject({
    code: 0,
    stdout: `name,ownerPatient.id,userDefinedDate\nConsent.pdf,${PATIENT + 2},\n`,
    reports: first.reports,
  });
  const again = await upload(['scans', '--layout', 'name-folders', '--review', 'molar-other.csv']);
  expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining('stored already') });
  expect(again.reports).toEqual(['molar-other.csv', ...first.reports]);
});
