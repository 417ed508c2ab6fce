import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { molarIn } from './inprocess.ts';
import { connection, fixturePatients, molar, PATIENT } from './molar.ts';
import { practiceHere } from './servedpractice.ts';

const practice = practiceHere(1234);
const env = () => connection(practice.url);

// In this order: the exports are of the practice as it was in the morning.
describe('a working day', { shuffle: false }, () => {
  test('a filtered CSV export has a header and exactly the rows that match, in id order', async () => {
    const args = ['patients', 'list', '--filter', 'lastName~=Sm', '--filter', 'patientStatus==ACTIVE', '--csv'];
    const { code, stdout, stderr } = await molar(practice.path, args, env());
    const expected = fixturePatients(1234).filter(
      (patient) => /^sm/i.test(patient.lastName) && patient.patientStatus === 'ACTIVE',
    );
    const [header, ...rows] = stdout.split('\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(header).toMatch(/^id,firstName,lastName,/);
    expect(rows.pop()).toBe('');
    expect(rows.map((row) => Number(row.split(',')[0]))).toEqual(expected.map((patient) => patient.id));
  });

  test('cells with commas are quoted, formulas neutralised, and CRLF and BOM come with --excel', async () => {
    const args = [
      'patients',
      'list',
      '--id',
      `${PATIENT + 7},${PATIENT + 8}`,
      '--fields',
      'id,lastName',
      '--csv',
      '--excel',
    ];
    const { stdout } = await molarIn(practice.path, args, env());
    expect(stdout).toBe(`\uFEFFid,lastName\r\n${PATIENT + 7},'=Cruz\r\n${PATIENT + 8},"Vega, Jr"\r\n`);
  });

  test('an export of nothing still has a header', async () => {
    const { code, stdout } = await molarIn(
      practice.path,
      ['patients', 'list', '--last-name', 'Nobody', '--fields', 'id,lastName'],
      env(),
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'id,lastName\n' });
  });

  test('every format holds the same records', async () => {
    const fields = ['--fields', 'id,lastName'];
    const [json, ndjson, csv] = await Promise.all(
      ['json', 'ndjson', 'csv'].map((format) =>
        molarIn(practice.path, ['patients', 'list', ...fields, '--format', format], env()),
      ),
    );
    const records = JSON.parse(json?.stdout ?? '') as { id: number; lastName: string }[];
    expect(records.length).toBe(1234);
    expect(ndjson?.stdout).toBe(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    expect(csv?.stdout.split('\n').length).toBe(1236);
  });

  test('--out writes the file whole, for its owner only, and leaves nothing beside it', async () => {
    const { code, stdout } = await molar(practice.path, ['patients', 'list', '--out', 'all.csv'], env());
    const file = join(practice.path, 'all.csv');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect((await readFile(file, 'utf8')).split('\n').length).toBe(1236);
    expect((await stat(file)).mode & 0o777).toBe(OWNER_ONLY.file);
    await expect(stat(`${file}.part`)).rejects.toThrow('ENOENT');
  });

  test('two scans are uploaded and one comes back byte for byte', async () => {
    await writeFile(join(practice.path, 'scan.pdf'), Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(300_000)]));
    const photo = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#884422' } })
      .jpeg()
      .toBuffer();
    await writeFile(join(practice.path, 'photo.jpg'), photo);
    const upload = await molar(
      practice.path,
      ['documents', 'upload', 'scan.pdf', 'photo.jpg', '--patient', String(PATIENT), '--tag', 'X-Ray', '--json'],
      env(),
    );
    expect({ code: upload.code, stderr: upload.stderr }).toEqual({ code: 0, stderr: '' });
    const uploaded = JSON.parse(upload.stdout) as { id: number; name: string; tags: string[] }[];
    expect(uploaded.map(({ name, tags }) => ({ name, tags }))).toEqual([
      { name: 'scan.pdf', tags: ['X-Ray'] },
      { name: 'photo.jpeg', tags: ['X-Ray'] },
    ]);
    const download = await molarIn(
      practice.path,
      ['documents', 'download', String(uploaded[0]?.id), '--out', 'back.pdf'],
      env(),
    );
    expect(download.code).toBe(0);
    const [sent, got] = await Promise.all([
      readFile(join(practice.path, 'scan.pdf')),
      readFile(join(practice.path, 'back.pdf')),
    ]);
    expect(got.equals(sent)).toBe(true);
  });

  test('a patient is created, changed and counted', async () => {
    const { type: _, organizationId: __, id: ___, ...patient } = fixturePatients(1)[0] as Record<string, unknown>;
    const created = await molar(
      practice.path,
      ['patients', 'create', '--data', '-', '--json'],
      env(),
      JSON.stringify(patient),
    );
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const { id } = JSON.parse(created.stdout) as { id: number };
    const changed = await molarIn(
      practice.path,
      ['patients', 'update', String(id), '--city', 'Elsewhere', '--json'],
      env(),
    );
    expect(JSON.parse(changed.stdout)).toMatchObject({ id, city: 'Elsewhere', state: 'UT' });
    expect((await molarIn(practice.path, ['patients', 'count', '--filter', `id->[${id}]`], env())).stdout).toBe('1\n');
  });

  test('--dry-run prints the request and sends nothing', async () => {
    const before = await molarIn(practice.path, ['patients', 'get', String(PATIENT), '--json'], env());
    const { code, stdout } = await molarIn(
      practice.path,
      ['patients', 'update', String(PATIENT), '--city', 'Nowhere', '--dry-run'],
      env(),
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'PUT',
      url: `${practice.url}/api/v1/patients/${PATIENT}`,
      body: { city: 'Nowhere' },
    });
    expect(stdout).not.toContain('acceptance-token');
    expect((await molarIn(practice.path, ['patients', 'get', String(PATIENT), '--json'], env())).stdout).toBe(
      before.stdout,
    );
  });
});
