import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import DocumentsUpload from '../../../src/commands/documents/upload.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { PATIENTS, TOKENS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from './run.ts';

const service = sharedService();
const PATIENT = String(PATIENTS.ann);
const PDF = '%PDF-1.7\nsynthetic\n';

let folder: string;
let results: string;
let send: Send;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  results = join(folder, 'results.csv');
  send = sendTo(() => service.app);
});
afterEach(() => rm(folder, { recursive: true }));

function upload(argv: readonly string[], world: Partial<Parameters<typeof runCommand>[2]> = {}): Promise<Ran> {
  return runCommand(DocumentsUpload, [...argv, '--results', results], { send, ...world });
}

async function file(name: string, content = PDF + name): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

const json = ({ stdout }: Ran) => JSON.parse(stdout.toString());
const count = async (patient: string) => {
  const query = { filter: `ownerPatient.id==${patient}` };
  return ((await service.call('GET', '/documents/totalcount', { query })).body.data as { totalCount: number })
    .totalCount;
};

describe('a server that requires a location', () => {
  const strict = sharedService(undefined, { requireLocation: true });

  it('is asked for patients of all locations', async () => {
    const line = [await file('one.pdf'), '--check', '--json', '--patient'];
    const world = { send: sendTo(() => strict.app) };
    expect((await upload([...line, PATIENT], world)).exitCode).toBe(0);
    expect((await upload([...line, '5'], world)).exitCode).toBe(4);
  });
});

describe('documents upload of a batch', () => {
  it('lists the files with --check, and sends and writes nothing', async () => {
    await mkdir(join(folder, 'scans'));
    const [good, bad] = [await file('scans/good.pdf', PDF), await file('scans/notes.txt', 'text')];
    const lost = await file('lost.pdf');
    const manifest = `file,patient,perioExam,tags\n${good},${PATIENT},,a;b\n${bad},,,\n${lost},5,,\n`;
    const before = await count(PATIENT);
    const ran = await upload(['--manifest', await file('scans.csv', manifest), '--check', '--csv']);
    expect(ran.exitCode).toBe(6);
    expect(ran.stdout.toString().split('\n')).toEqual([
      'status,file,name,patient,perioExam,tags,mimeType,userDefinedDate,bytes,error',
      `ready,${good},good.pdf,${PATIENT},,"[""a"",""b""]",PDF,,${PDF.length},`,
      expect.stringContaining(`refused,${bad},,,,[],,,,"neither its content nor its extension`),
      `refused,${lost},,5,,[],,,,There is no patient 5.`,
      '',
    ]);
    expect(ran.stderr).toContain('2 of 3 files refused.');
    const fine = await upload([good, '--check', '--json']);
    expect([fine.exitCode, json(fine)]).toMatchObject([0, [{ status: 'ready', name: 'good.pdf', bytes: PDF.length }]]);
    expect(await count(PATIENT)).toBe(before);
    expect((await readdir(folder)).sort()).toEqual(['lost.pdf', 'scans', 'scans.csv']);
    const both = await upload([good, '--check', '--dry-run']);
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('give one')]);
  });

  it('takes folders with the folders in them, and of those what matches', async () => {
    await mkdir(join(folder, 'deep', 'inner'), { recursive: true });
    for (const name of ['deep/deep a.pdf', 'deep/inner/deep b.PDF', 'deep/inner/notes.txt']) await file(name);
    const line = [join(folder, 'deep'), '--fields', 'name', '--csv'];
    const flat = await upload(line);
    expect([flat.exitCode, flat.stdout.toString()]).toEqual([0, 'name\ndeep a.pdf\n']);
    expect(flat.stderr).toContain('1 folder inside not uploaded; --recursive includes them.');
    const all = await upload([...line, '--recursive', '--include', '*.pdf', '--include', 'x.*']);
    expect([all.exitCode, all.stdout.toString()]).toEqual([0, 'name\ndeep a.pdf\ndeep b.pdf\n']);
    expect(all.stderr).toContain('1 file left out by --include.');
    expect(all.stderr).toContain('deep a.pdf: stored already');
  });

  describe('--layout patient-folders', () => {
    const bob = String(PATIENTS.bob);

    /** A folder of scans; those of another practice have other names. */
    async function practice(name: string, scan = 'Bitewing', letter = 'Letter'): Promise<string> {
      for (const path of [
        `${bob}_Bob/X-Ray/2026-01-02-${scan}.pdf`,
        `${bob}_Bob/2026-02-03-${letter}.pdf`,
        '5_Nobody/2026-01-02-a.pdf',
        `${bob}_Bob/undated.pdf`,
      ]) {
        await mkdir(join(folder, name, path, '..'), { recursive: true });
        await file(join(name, path));
      }
      return join(folder, name);
    }

    it('shows the plan, then gives each file the patient, tag and date of its place', async () => {
      const root = await practice('one');
      const ran = await upload([root, '--layout', 'patient-folders', '--csv', '--fields', 'name,tags,userDefinedDate']);
      expect([ran.exitCode, ran.stdout.toString()]).toEqual([
        6,
        'name,tags,userDefinedDate\nLetter.pdf,[],2026-02-03\nBitewing.pdf,"[""X-Ray""]",2026-01-02\n',
      ]);
      expect(ran.stderr.split('\n').slice(0, 4)).toEqual([
        'PATIENT         DATE        TAG    NAME          FILE',
        `${bob}  2026-02-03         Letter.pdf    ${join(root, `${bob}_Bob`, '2026-02-03-Letter.pdf')}`,
        `${bob}  2026-01-02  X-Ray  Bitewing.pdf  ${join(root, `${bob}_Bob`, 'X-Ray', '2026-01-02-Bitewing.pdf')}`,
        '2 files refused; --check says why.',
      ]);
      expect(ran.stderr).toContain('There is no patient 5.');
      expect(ran.stderr).toContain('its name does not begin with a date');
      expect((await readFile(results, 'utf8')).split('\n')[0]).toBe(
        'file,name,patient,perioExam,tags,mimeType,userDefinedDate,status,id,storedName,attempts,error',
      );
      const again = await upload(['--manifest', results, '--csv', '--fields', 'name']);
      expect([again.exitCode, again.stdout.toString()]).toEqual([6, '']);
      expect(again.stderr).toContain('2 files done in an earlier run');
      expect(again.stderr).toContain('Write a date, YYYY-MM-DD, in place of the ? in userDefinedDate.');
    });

    it('asks on a terminal, unless told not to', async () => {
      const root = await practice('two', 'Panorama', 'Referral');
      const before = await count(bob);
      const line = [root, '--layout', 'patient-folders', '--fields', 'name', '--csv'];
      const questions: string[] = [];
      const confirm = (yes: boolean) => async (question: string) => {
        questions.push(question);
        return yes;
      };
      const no = await upload(line, { confirm: confirm(false) });
      expect([no.exitCode, no.stderr]).toEqual([130, expect.stringContaining('Nothing was uploaded.')]);
      expect(await count(bob)).toBe(before);
      expect(await readdir(folder)).toEqual(['two']);
      expect((await upload(line, { confirm: confirm(true) })).exitCode).toBe(6);
      expect(await count(bob)).toBe(before + 2);
      expect((await upload([...line, '--yes'], { confirm: confirm(false) })).exitCode).toBe(6);
      expect(questions).toEqual(Array.from({ length: 2 }, () => 'Upload 2 files of 1 patient as listed?'));
    });

    it.each<[string, readonly string[], string]>([
      ['a patient', ['--patient', '5'], 'the folders say patient, tag, date and name'],
      ['a date', ['--user-defined-date', '2026-01-02'], 'the folders say patient, tag, date and name'],
      ['a manifest', ['--manifest', 'scans.csv'], 'Give files or --manifest, not both.'],
    ])('refuses %s beside it', async (_, more, message) => {
      const ran = await upload([folder, '--layout', 'patient-folders', ...more]);
      expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(message)]);
    });
  });

  it('is kept from results that another run is at', async () => {
    const line = [await file('locked.pdf')];
    const through = send;
    let goOn = () => {};
    const held = new Promise<void>((done) => {
      goOn = done;
    });
    const first = new Promise<void>((reached) => {
      send = async (request) => {
        reached();
        await held;
        return through(request);
      };
    });
    const running = upload(line);
    await first;
    const second = await upload(line);
    expect([second.exitCode, second.stderr]).toEqual([
      9,
      expect.stringContaining(`is in use by process ${process.pid} since`),
    ]);
    goOn();
    expect((await running).exitCode).toBe(0);
    expect((await upload(line)).exitCode).toBe(0);
    expect((await readdir(folder)).sort()).toEqual(['locked.pdf', 'results.csv', 'results.csv.journal']);
  });

  it('reads a token from standard input once for the checks and the uploads', async () => {
    const line = [await file('token.pdf'), '--patient', PATIENT, '--token-stdin', '--json'];
    const ran = await upload(line, { stdin: `${TOKENS.full}\n`, env: { MOLAR_TOKEN: '' } });
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  });

  it('keeps no names and no ids of patients in its journal', async () => {
    await upload([await file('Ann secret.pdf'), '--patient', PATIENT]);
    const journal = await readFile(`${results}.journal`, 'utf8');
    expect(journal).toContain('"state":"stored"');
    expect(journal).not.toContain('Ann');
    expect(journal).not.toContain(PATIENT);
  });
});
