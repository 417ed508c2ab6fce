import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { generateSource } from 'oazapfts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../house/tree.ts';
import { rowsOf } from '../../support/calls.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { patientFixture } from '../../support/resources/patients.ts';
import { sharedService } from '../../support/service.ts';

const service = sharedService();
let folder: string;

/** A program as somebody would write it who has only the document: the generated client, and its types. */
const PROGRAM = `
import { patientsCreate, patientsGet, patientsList, type PatientCreateV1 } from './client.ts';

export interface Caller {
  readonly baseUrl: string;
  readonly token: string;
  readonly organization: string;
  readonly patient: PatientCreateV1;
}

export async function work({ baseUrl, token, organization, patient }: Caller) {
  const options = { baseUrl, headers: { Authorization: \`Bearer \${token}\` } };
  const listed = await patientsList(organization, { filter: 'lastName~=Sm', responseFields: ['lastName', 'phones'], lastId: 0 }, options);
  if (listed.status !== 200) throw new Error(listed.data.errors[0]?.description ?? 'refused');
  const names: (string | null | undefined)[] = listed.data.data.map((record) => record.lastName);

  const created = await patientsCreate(organization, patient, {}, options);
  if (created.status !== 201) throw new Error(created.data.errors[0]?.description ?? 'refused');
  const { id } = created.data.data;

  const missing = await patientsGet(999, organization, {}, options);
  if (missing.status !== 404) throw new Error('found');
  // A code is one of the failure table: another one would not compile.
  const isMissing: boolean = missing.data.errors[0]?.code === 'record.not_found';

  const again = await patientsGet(id, organization, {}, options);
  if (again.status !== 200) throw new Error('lost');
  return { names, created: created.data.data, again: again.data.data, isMissing, total: listed.data.meta.pagination.limit };
}
`;

/** What the types must refuse; each line is a mistake. */
const MISTAKES = `
import { patientsCreate, patientsList, type Failure, type PatientCreateV1, type PatientUpdateV1 } from './client.ts';
void patientsList('o', { responseFields: ['nosuch'] });
void patientsCreate('o', { firstName: 'Ann' });
export const gender = { gender: 'X' } satisfies PatientUpdateV1;
export const readOnly = { id: 5 } satisfies PatientUpdateV1;
export const code: Failure['errors'][number]['code'] = 'no.such_code';
export const name: PatientCreateV1['firstName'] = null;
`;

async function typeProblems(file: string): Promise<string[]> {
  const config = {
    compilerOptions: {
      ...{ target: 'es2023', lib: ['es2023', 'dom'], module: 'preserve', types: [], strict: true, noEmit: true },
      ...{ allowImportingTsExtensions: true, skipLibCheck: true },
    },
    files: [file],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const failed = await promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false']).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
  return failed.split('\n').filter((line) => /error TS/.test(line));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-client-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  const { body } = await service.app.inject('/openapi.json');
  await writeFile(join(folder, 'openapi.json'), body);
  const client = await generateSource(join(folder, 'openapi.json'), { futureStripLegacyMethods: true });
  await writeFile(join(folder, 'client.ts'), client);
  await writeFile(join(folder, 'program.ts'), PROGRAM);
  await writeFile(join(folder, 'mistakes.ts'), MISTAKES);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a client generated from the document', () => {
  it('compiles with a program that uses it', async () => {
    expect(await typeProblems('program.ts')).toEqual([]);
  });

  it('has types that refuse mistakes', async () => {
    const lines = (await typeProblems('mistakes.ts')).map((problem) => Number(/\((\d+),/.exec(problem)?.[1]));
    expect([...new Set(lines)]).toEqual([3, 4, 5, 6, 7, 8]);
  });

  it('lists, creates and reads patients of a listening server, and gets errors as values', async () => {
    const baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const outfile = join(folder, 'program.mjs');
    await build({
      entryPoints: [join(folder, 'program.ts')],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      logLevel: 'silent',
    });
    const { work } = await import(pathToFileURL(createRequire(outfile).resolve(outfile)).href);
    const patient = patientFixture.create?.(1) ?? {};
    const expected = rowsOf(await service.call('GET', '/patients', { query: { filter: 'lastName~=Sm' } }));
    const done = await work({ baseUrl, token: TOKENS.full, organization: ORGANIZATION, patient });
    expect(expected.length).toBeGreaterThan(0);
    expect(done.names).toEqual(expected.map(({ lastName }) => lastName));
    expect(done.created).toMatchObject(patient);
    expect(done.again).toEqual(done.created);
    expect(done).toMatchObject({ isMissing: true, total: 100 });
  });
});
