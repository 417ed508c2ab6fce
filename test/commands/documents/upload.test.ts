import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import DocumentsUpload from '../../../src/commands/documents/upload.ts';
import { ConnectionFailure, type Send } from '../../../src/core/transport/send.ts';
import { EXAMS, PATIENTS, TOKENS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from './run.ts';

const service = sharedService();
const PATIENT = String(PATIENTS.ann);
const PDF = '%PDF-1.7\nsynthetic\n';
const COLUMNS = 'file,name,patient,perioExam,tags,mimeType,status,id,storedName,attempts,error';

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

async function file(name: string, content: string | Buffer = PDF + name): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

const json = ({ stdout }: Ran) => JSON.parse(stdout.toString());
const lines = async () => (await readFile(results, 'utf8')).trimEnd().split('\n');
const count = async (patient: string) => {
  const query = { filter: `ownerPatient.id==${patient}` };
  return ((await service.call('GET', '/documents/totalcount', { query })).body.data as { totalCount: number })
    .totalCount;
};

describe('documents upload', () => {
  it('stores files and shows their documents, a list of several and a record of one', async () => {
    const jpeg = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#123' } })
      .jpeg()
      .toBuffer();
    const paths = [await file('First scan.pdf'), await file('first photo.jpg', jpeg)];
    const ran = await upload([...paths, '--patient', PATIENT, '--tag', 'X-Ray', '--tag', 'New', '--json']);
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    expect(json(ran)).toMatchObject([
      { name: 'First scan.pdf', mimeType: 'PDF', ownerPatient: { id: PATIENTS.ann }, tags: ['X-Ray', 'New'] },
      { name: 'first photo.jpeg', mimeType: 'JPEG', ownerPatient: { id: PATIENTS.ann } },
    ]);
    const [scan, photo] = json(ran).map(({ id }: { id: number }) => id);
    expect(await lines()).toEqual([
      COLUMNS,
      `${paths[0]},,${PATIENT},,X-Ray;New,,done,${scan},First scan.pdf,1,`,
      `${paths[1]},,${PATIENT},,X-Ray;New,,done,${photo},first photo.jpeg,1,`,
    ]);
    const stored = await service.call('GET', json(ran)[1].storage.original);
    expect(stored.bytes.equals(jpeg)).toBe(true);

    const one = await upload([
      await file('one.pdf'),
      '--perio-exam',
      String(EXAMS.one),
      '--name',
      'My chart.PDF',
      '--user-defined-date',
      '2026-02-28',
    ]);
    expect(json(one)).toMatchObject({
      name: 'My chart.pdf',
      ownerPerioExam: { id: EXAMS.one },
      userDefinedDate: '2026-02-28',
    });

    const csv = await upload([await file('a.pdf'), await file('b.pdf'), '--fields', 'name,ownerType']);
    expect(csv.stdout.toString()).toBe('name,ownerType\na.pdf,Organization\nb.pdf,Organization\n');
    const table = await upload([await file('c.pdf'), await file('d.pdf'), '--fields', 'name'], {
      isTTY: true,
      env: { NO_COLOR: '1' },
    });
    expect(table.stdout.toString()).toBe('name\n─────\nc.pdf\nd.pdf\n');
  });

  it('takes a folder, and standard input under a name', async () => {
    await mkdir(join(folder, 'scans'));
    await file('scans/x.pdf');
    await file('scans/y.pdf');
    results = join(folder, 'scans', 'results.csv');
    const ran = await upload([join(folder, 'scans'), '--fields', 'name', '--csv']);
    expect(ran.stdout.toString()).toBe('name\nx.pdf\ny.pdf\n');
    const again = await upload([join(folder, 'scans'), '--fields', 'name', '--csv']);
    expect([again.exitCode, again.stdout.toString()]).toEqual([0, 'name\nx.pdf\ny.pdf\n']);
    const piped = await upload(['-', '--name', 'From a pipe', '--json'], { stdin: PDF });
    expect(json(piped)).toMatchObject({ name: 'From a pipe.pdf' });
    expect(await lines()).toContainEqual(expect.stringMatching(/^'-,From a pipe,,,,,done,/));
  });

  it('crops an image', async () => {
    const png = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#456' } })
      .png()
      .toBuffer();
    const path = await file('smile.png', png);
    const ran = await upload([path, '--crop', '5,5,40,20', '--ratio', '0.5', '--json']);
    expect(Object.keys(json(ran).storage)).toEqual(['original', 'thumbnail', 'resized', 'cropped']);
    const outside = await upload([path, '--name', 'other', '--crop', '50,5,40,20', '--ratio', '1']);
    expect(outside.exitCode).toBe(5);
  });

  it('uploads the good files of a batch, and the rest when its results are run again', async () => {
    const patient = String(PATIENTS.bob);
    const before = await count(patient);
    const good = await file('good.pdf');
    const [bad, missing] = [await file('bad.pdf', 'GIF89a not a PDF'), join(folder, 'missing.pdf')];
    const manifest = await file('scans.csv', `file,name,tags\n${good},,a;b\n${bad},,\n${missing},Late,\n`);
    const ran = await upload(['--manifest', manifest, '--patient', patient, '--fields', 'name', '--csv']);
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([6, 'name\ngood.pdf\n']);
    expect(ran.stderr).toContain('2 of 3 files not uploaded.');
    expect(ran.stderr).toContain(`--manifest ${results}`);
    expect((await lines()).map((line) => line.replace(/,done,\d+,/, ',done,ID,'))).toEqual([
      COLUMNS,
      `${good},,${patient},,a;b,,done,ID,good.pdf,1,`,
      `${bad},,${patient},,,,failed,,,0,"its content is GIF but its extension says PDF. Rename it, or declare it as GIF."`,
      `${missing},Late,${patient},,,,failed,,,0,Cannot read ${missing}: no such file or folder.`,
    ]);
    await file('missing.pdf');
    await file('bad.pdf');
    const rest = await upload(['--manifest', results, '--fields', 'name', '--csv']);
    expect([rest.exitCode, rest.stdout.toString()]).toEqual([0, 'name\nbad.pdf\nLate.pdf\n']);
    expect(rest.stderr).toBe('1 file done in an earlier run, not uploaded again.\n');
    expect((await lines()).slice(1).map((line) => line.split(',')[6])).toEqual(['done', 'done', 'done']);
    const none = await upload(['--manifest', results, '--fields', 'name', '--csv']);
    expect([none.exitCode, none.stdout.toString()]).toEqual([0, 'name\n']);
    expect(await count(patient)).toBe(before + 3);
  });

  it('stores nothing twice when the same line is run again, with its results or without', async () => {
    const before = await count(PATIENT);
    const line = [await file('twice.pdf'), '--patient', PATIENT, '--json'];
    const first = json(await upload(line));
    const again = await upload(line);
    await rm(results);
    const without = await upload(line);
    expect([json(again).id, json(without).id, await count(PATIENT)]).toEqual([first.id, first.id, before + 1]);
    expect(without.stderr).toBe(
      `${join(folder, 'twice.pdf')}: stored already as document ${first.id}, not stored again.\n`,
    );
  });

  it('stores a file once when the connection is cut after it was stored', async () => {
    const before = await count(PATIENT);
    const through = send;
    let cuts = 0;
    send = async (request) => {
      const answer = await through(request);
      if (request.method === 'POST' && cuts++ < 2)
        throw new ConnectionFailure('The connection was cut.', { sent: true });
      return answer;
    };
    const ran = await upload([await file('cut.pdf'), await file('cut too.pdf'), '--patient', PATIENT, '--json']);
    expect(json(ran).map(({ name }: { name: string }) => name)).toEqual(['cut.pdf', 'cut too.pdf']);
    expect(await count(PATIENT)).toBe(before + 2);
  });

  it('prints the requests and sends nothing with --dry-run', async () => {
    send = () => Promise.reject(new Error('something was sent'));
    const path = await file('dry.pdf', PDF);
    const ran = await upload([path, '--patient', PATIENT, '--dry-run']);
    expect(json(ran)).toMatchObject({
      method: 'POST',
      url: 'http://localhost/api/v1/documents',
      headers: { Authorization: 'Bearer (removed)' },
      body: {
        name: 'dry',
        mimeType: 'PDF',
        ownerPatient: { id: PATIENTS.ann },
        file: { content: expect.stringContaining('19 bytes') },
      },
    });
    const several = await upload([path, join(folder, 'missing.pdf'), '--dry-run']);
    expect([several.exitCode, json(several)]).toEqual([6, [expect.objectContaining({ method: 'POST' })]]);
    expect(await readdir(folder)).toEqual(['dry.pdf']);
  });

  it.each<[string, readonly string[], number, string]>([
    ['nothing named', [], 2, 'Nothing to upload'],
    ['a patient that is no id', ['F', '--patient', 'Ann'], 2, '--patient must be a patient id.'],
    ['two owners', ['F', '--patient', '5', '--perio-exam', '6'], 2, 'not both'],
    ['an unknown type', ['F', '--mime-type', 'TIFF'], 2, 'Supported: PDF'],
    ['a date that is none', ['F', '--user-defined-date', '2026-02-30'], 2, 'YYYY-MM-DD'],
    ['a crop without a ratio', ['F', '--crop', '0,0,5,5'], 2, '--crop and --ratio go together'],
    ['a name for two files', ['F', 'F', '--name', 'a'], 2, '--name fits one file only'],
    ['no files at a time', ['F', '--concurrency', '0'], 2, '--concurrency must be a whole number, 1 to 32.'],
    ['a file that is not there', ['M'], 9, 'no such file or folder'],
    ['files that are not there', ['M', 'N'], 9, '2 of 2 files not uploaded.'],
    ['files of the wrong type', ['T', 'T'], 2, '2 of 2 files not uploaded.'],
    ['different causes', ['T', 'M'], 6, '2 of 2 files not uploaded.'],
    ['a patient that is not there', ['F', '--patient', '5'], 4, 'There is no patient 5.'],
    ['two files for a patient that is not there', ['F', 'G', '--patient', '5'], 4, '2 of 2 files not uploaded.'],
  ])('%s: exit code', async (_, argv, exitCode, message) => {
    const paths: Record<string, string> = {
      F: await file('refused.pdf'),
      G: await file('refused too.pdf'),
      T: await file('notes.txt', 'text'),
      M: join(folder, 'missing.pdf'),
      N: join(folder, 'none.pdf'),
    };
    const ran = await upload(argv.map((word) => paths[word] ?? word));
    expect([ran.exitCode, ran.stdout.toString()]).toEqual([exitCode, '']);
    expect(ran.stderr).toContain(message);
  });

  it('says with --json what went wrong as one object, and stops at a token that is not accepted', async () => {
    const paths = [await file('not 1.pdf'), await file('not 2.pdf'), await file('not 3.pdf')];
    const ran = await upload([...paths, '--json', '--concurrency', '1'], { env: { MOLAR_TOKEN: 'wrong' } });
    expect([ran.exitCode, ran.stdout.length]).toEqual([3, 0]);
    const { error } = JSON.parse(ran.stderr);
    expect(error).toMatchObject({ code: 'auth.token_unknown', exitCode: 3, message: '3 of 3 files not uploaded.' });
    expect(error.errors.map(({ source }: { source: string }) => source)).toEqual(paths);
    expect((await lines()).slice(1).map((line) => line.split(',')[6])).toEqual(['failed', 'pending', 'pending']);
    const forbidden = await upload([paths[0]!, '--json'], { env: { MOLAR_TOKEN: TOKENS.read } });
    expect(forbidden.exitCode).toBe(3);
  });

  it('does not write over a file that is not its own', async () => {
    await file('results.csv', 'my own list\n');
    const ran = await upload([await file('a.pdf')]);
    expect(ran.exitCode).toBe(2);
    expect(await readFile(results, 'utf8')).toBe('my own list\n');
  });
});
