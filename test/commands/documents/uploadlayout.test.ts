import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import DocumentsUpload from '../../../src/commands/documents/upload.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { PATIENTS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from './run.ts';

const service = sharedService();
const { ann, bob } = PATIENTS;

let folder: string;
let requests: string[];
let send: Send;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  requests = [];
  const through = sendTo(() => service.app);
  send = (request) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return through(request);
  };
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const posted = () => requests.filter((request) => request.startsWith('POST')).length;

function upload(argv: readonly string[], world: Partial<Parameters<typeof runCommand>[2]> = {}): Promise<Ran> {
  const files = ['--results', at('results.csv'), ...(argv.includes('--layout') ? ['--review', at('review.csv')] : [])];
  return runCommand(DocumentsUpload, [...argv, ...files], { send, ...world });
}

/** Files below `scans`, each with a content of its own. */
async function scans(...paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    await mkdir(dirname(at(`scans/${path}`)), { recursive: true });
    await writeFile(at(`scans/${path}`), `%PDF-1.7\n${path} ${folder}\n`);
  }
  return at('scans');
}

async function documentsOf(patient: number): Promise<readonly Record<string, unknown>[]> {
  const query = { filter: `ownerPatient.id==${patient}`, pageSize: '500' };
  return (await service.call('GET', '/documents', { query })).body.data as Record<string, unknown>[];
}

/** With paths below the folder, spelt with slashes. */
const plain = (text: string) => text.replaceAll(`${folder}${sep}`, '').replaceAll(sep, '/');
const csv = async (name: string) => plain(await readFile(at(name), 'utf8')).split('\n');

describe('documents upload --layout PATTERN', () => {
  it('files what is sure, and what is not after somebody has said whose it is', async () => {
    const root = await scans(
      'smith, annie 1980-02-29/X-Ray/2026-01-02-Bitewing.pdf',
      'Smith, Ann 19800229/Letter.pdf',
      'Smith, Bob 1990-01-01/Letter; two.pdf',
      'Smith, Bob/=Letter.pdf',
      'Smith, Zoe 1990-01-01/a.pdf',
    );
    const line = [root, '--layout', 'name-folders', '--layout', '{last}, {first}/{name}', '--csv', '--fields'];
    const ran = await upload([...line, 'name,tags,userDefinedDate,ownerPatient.id']);
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([
      6,
      `name,tags,userDefinedDate,ownerPatient.id\nLetter.pdf,[],,${ann}\nBitewing.pdf,"[""X-Ray""]",2026-01-02,${ann}\n`,
    ]);
    expect(plain(ran.stderr).replace(/ {3,}/g, '  ').split('\n')).toEqual([
      'FOLDER  PATIENT  FILES',
      `scans/Smith, Ann 19800229  ${ann} Smith, Ann  1`,
      `scans/smith, annie 1980-02-29/X-Ray  ${ann} Smith, Ann  1`,
      '3 files for review.',
      'Error: 3 of 5 files not uploaded.',
      '  1 file: Last and first name alone do not say who the patient is.',
      '  2 files: No patient has this last name, first name and date of birth.',
      'Next: Write the patients into review.csv, then upload its files with --manifest review.csv.',
      '',
    ]);
    const alone = 'Last and first name alone do not say who the patient is.';
    const nobody = '"No patient has this last name, first name and date of birth."';
    const header = 'file,name,patient,perioExam,tags,mimeType,reason,candidates';
    expect(await csv('review.csv')).toEqual([
      header,
      `"scans/Smith, Bob/=Letter.pdf",'=Letter,,,,,${alone},${bob}`,
      `"scans/Smith, Bob 1990-01-01/Letter; two.pdf",Letter; two,,,,,${nobody},`,
      `"scans/Smith, Zoe 1990-01-01/a.pdf",a,,,,,${nobody},`,
      '',
    ]);
    // Run as a manifest, the results must not file them under the organization.
    expect((await csv('results.csv')).filter((row) => row.includes(',failed,'))).toEqual([
      expect.stringContaining(`'=Letter,?,,,,,failed,`),
      expect.stringContaining('Letter; two,?,,,,,failed,'),
      expect.stringContaining('a,?,,,,,failed,'),
    ]);
    expect((await stat(at('review.csv'))).mode & 0o777).toBe(OWNER_ONLY.file);
    const text = await readFile(at('review.csv'), 'utf8');
    await writeFile(at('review.csv'), text.replace('two,,', `two,${bob},`).replace('=Letter,,', `=Letter,${bob},`));

    const second = await upload(['--manifest', at('review.csv'), '--csv', '--fields', 'name,ownerPatient.id']);
    expect([second.exitCode, second.stdout.toString()]).toEqual([
      6,
      `name,ownerPatient.id\n'=Letter.pdf,${bob}\nLetter; two.pdf,${bob}\n`,
    ]);
    expect(second.stderr).toContain('1 file: The patient is still missing.');
    expect(await csv('results.csv')).toEqual([
      'file,name,patient,perioExam,tags,mimeType,status,id,storedName,attempts,error',
      expect.stringContaining(`'=Letter,${bob},,,,done,`),
      expect.stringContaining(`two,${bob},,,,done,`),
      expect.stringMatching(/a\.pdf",a,\?,,,,failed,,,0,The patient is still missing\.$/),
      '',
    ]);
    expect(await readdir(folder)).toEqual(['results.csv', 'results.csv.journal', 'review.csv', 'scans']);
    await upload([...line, 'id']);
    expect(posted()).toBe(4);
    expect(await readdir(folder)).toContain('review.1.csv');
  });

  it('finds chart numbers in any letter case, and is told by the name which of two it is', async () => {
    const root = await scans('C-1_x/a.pdf', 'c-1 SMITH Bob/b.pdf');
    const line = [root, '--layout', 'chart-folders', '--layout', '{chartNumber} {last} {first}/{name}', '--check'];
    const ran = await upload([...line, '--csv', '--fields', 'status,name,patient,error']);
    const several = 'Several patients have this chart number.';
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([
      6,
      `status,name,patient,error\nreview,a,,${several}\nready,b.pdf,${bob},\n`,
    ]);
    expect((await csv('review.csv'))[1]).toBe(`scans/C-1_x/a.pdf,a,,,,,${several},${ann};${bob}`);
    expect(await readdir(folder)).toEqual(['review.csv', 'scans']);
    expect(posted()).toBe(0);
    expect(requests.length).toBeLessThan(10);
  });

  it('proposes a pattern for files that fit none', async () => {
    const root = await scans('Smith_Ann_02-29-1980/Bitewing.pdf', `${ann}/b.pdf`);
    const ran = await upload([root, '--layout', '{id}/{name}', '--check', '--csv']);
    expect(ran.exitCode).toBe(6);
    expect(ran.stderr).toContain(
      "No pattern fits 1 file. This would fit them: --layout '{last}_{first}_{birthDate:MM-DD-YYYY}/{name}'",
    );
    const [, advice = ''] = /--layout '([^']*)'/.exec(ran.stderr) ?? [];
    const again = await upload([root, '--layout', '{id}/{name}', '--layout', advice, '--check', '--json']);
    expect([again.exitCode, again.stderr]).toEqual([0, '']);
    expect(JSON.parse(again.stdout.toString())).toMatchObject([{ patient: ann }, { patient: ann }]);
    expect(await readdir(folder)).toEqual(['scans']);
  });

  it('asks on a terminal, and leaves review files of others alone', async () => {
    const root = await scans(`${ann}/b.pdf`, `${bob}/b.pdf`, 'none/c.pdf');
    const questions: string[] = [];
    const confirm = async (question: string) => {
      questions.push(question);
      return false;
    };
    const line = [root, '--layout', '{id}/{name}'];
    const no = await upload(line, { confirm });
    expect([no.exitCode, posted()]).toEqual([130, 0]);
    expect(questions).toEqual(['Upload 2 files of 2 patients as listed?']);
    await writeFile(at('review.csv'), 'file,patient\nx,1\n');
    const other = await upload([...line, '--yes'], { confirm });
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('is not a review file')]);
    expect(await readFile(at('review.csv'), 'utf8')).toBe('file,patient\nx,1\n');
    expect((await upload([join(root, 'none', '..'), '--include', 'b.pdf', ...line.slice(1), '--yes'])).exitCode).toBe(
      0,
    );
    expect([(await documentsOf(bob)).some(({ name }) => name === 'b.pdf'), posted()]).toEqual([true, 2]);
  });

  it.each([
    ['a request to be shown', ['--dry-run'], '--check lists the files'],
    ['a patient', ['--patient', '5'], 'leave the flags out'],
    ['a pattern without a patient', ['--layout', '{date}/{name}'], 'it needs {id}'],
    ['what is no layout', ['--layout', 'chart-folder'], 'neither a pattern nor a layout'],
    ['what every object has', ['--layout', 'constructor'], 'neither a pattern nor a layout'],
  ])('refuses %s, and requests nothing', async (_, more, message) => {
    const ran = await upload([await scans('5/a.pdf'), '--layout', '{id}/{name}', ...more]);
    expect([ran.exitCode, ran.stderr, requests]).toEqual([2, expect.stringContaining(message), []]);
  });
});
