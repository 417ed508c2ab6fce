import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { big, ORGANIZATION, TOKENS } from '../ids.ts';
import { allRecords, line } from '../practice.ts';
import { patientFixture } from '../resources/patients.ts';
import { type TestService, testService } from '../service.ts';
import { type FaultProxy, openFaultProxy } from './faultproxy.ts';
import { type FaultyWorld, runFaulty } from './runfaulty.ts';
import { seeded, seeds } from './seeded.ts';

/** As many as it takes until one is both called as another one is and holds what another one does. */
const FILES = 35;

/** Client runs after which every file must be there: the line is run again until it is done. */
const MOST_RUNS = 10;

let service: TestService;
let folder: string;
let proxy: FaultProxy;

const patient = (number: number) => String(big(3_000_000) + number);
/** Three patients of each seed. */
const patientsOf = (all: readonly number[]) =>
  all.flatMap((seed) =>
    [0, 1, 2].map((of) => line('PatientV1', { ...patientFixture.records[0], id: Number(patient(seed * 3 + of)) })),
  );

/** Tests of so many seeds, with a server that takes notice of the Idempotency-Key or with one that does not. */
export function faultyUploads(few: number, options: { readonly withoutKeys?: boolean } = {}): void {
  const all = seeds(few);
  beforeAll(() => prepare(all, options));
  afterAll(tidy);
  test.each(all)('each file is stored once, seed %i', uploadAll);
}

async function prepare(all: readonly number[], options: { readonly withoutKeys?: boolean }): Promise<void> {
  service = await testService([...allRecords(), ...patientsOf(all)]);
  proxy = await openFaultProxy(await service.app.listen({ port: 0, host: '127.0.0.1' }), options);
  folder = await mkdtemp(join(tmpdir(), 'molar-acceptance-'));
  await mkdir(join(folder, 'again'));
  for (let file = 0; file < FILES; file++) await writeFile(join(folder, pathOf(file)), contentOf(file));
}

async function tidy(): Promise<void> {
  await proxy.close();
  await service.close();
  await rm(folder, { recursive: true });
}

/** Every fifth file is called as another one is, and every seventh holds what another one does. */
const pathOf = (file: number) => (file % 5 === 4 ? `again/scan ${file - 1}.pdf` : `scan ${file}.pdf`);
const contentOf = (file: number) => `%PDF-1.7\nsynthetic ${file % 7 === 6 ? file - 2 : file}\n${'x'.repeat(file * 37)}`;

/** The line of a seed: its own three patients own the files in turn. A tag tells each file apart. */
async function manifestOf(seed: number): Promise<string> {
  const rows = Array.from(
    { length: FILES },
    (_, file) => `${join(folder, pathOf(file))},${patient(seed * 3 + (file % 3))},file-${file}`,
  );
  const path = join(folder, `${seed}.csv`);
  await writeFile(path, `file,patient,tags\n${rows.join('\n')}\n`);
  return path;
}

/** What must be on the server in the end: for each file one document of its owner, of its name, with its tag. */
const EXPECTED = Array.from({ length: FILES }, (_, file) => {
  const name = pathOf(file).replace('again/', '').replace('.pdf', '');
  return `${file % 3} ${name} file-${file}`;
}).sort();

const HEADERS = { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };

/** What is there, asked past the proxy; the number that the server puts behind a name that is taken is left out. */
async function stored(seed: number): Promise<string[]> {
  const found = await Promise.all(
    [0, 1, 2].map(async (owner) => {
      const query = { filter: `ownerPatient.id==${patient(seed * 3 + owner)}`, pageSize: '500' };
      const answer = await service.app.inject({ url: '/api/v1/documents', query, headers: HEADERS });
      const documents = answer.json<{ data: { name: string; tags: string[] }[] }>().data;
      return documents.map(({ name, tags }) => `${owner} ${name.replace(/(?: \(\d+\))?\.pdf$/, '')} ${tags.join()}`);
    }),
  );
  return found.flat().sort();
}

/** How a run of a seed goes wrong: differently each time, and mildly in the end so that there is one. */
function worldOf(seed: number, number: number): Omit<FaultyWorld, 'proxy'> {
  const random = seeded(seed * 1000 + number);
  const isLate = number > 4;
  const at = 1 + Math.floor(random() * 84);
  const end = random();
  return {
    share: isLate ? 0.02 : ([0.05, 0.15, 0.4][Math.floor(random() * 3)] ?? 0),
    most: isLate ? 1 : 3,
    restarts: isLate ? 0 : 2,
    ...(!isLate && end < 0.2 && { breaksAt: at }),
    ...(!isLate && end > 0.8 && { interruptAt: at }),
  };
}

/** Runs the line of a seed again and again until it is done: at no time is a document there that should not be. */
async function uploadAll(seed: number): Promise<void> {
  const manifest = await manifestOf(seed);
  const results = join(folder, `${seed}-results.csv`);
  const told: string[] = [];
  for (let number = 0; ; number++) {
    const line = ['--manifest', number % 3 === 2 ? results : manifest, '--results', results, '--json'];
    const world = { proxy, ...worldOf(seed, number) };
    const { exitCode, stderr, plan } = await runFaulty(seed * 100 + number, ['documents', 'upload', ...line], world);
    told.push(`run ${number} ended with ${exitCode}: ${stderr}\n${plan.describe()}`);
    expect(await unexpected(seed), told.join('\n')).toEqual([]);
    if (exitCode === 0) break;
    expect(number, told.join('\n')).toBeLessThan(MOST_RUNS);
  }
  expect(await stored(seed), told.join('\n')).toEqual(EXPECTED);
  expect((await readFile(results, 'utf8')).match(/,done,/g), told.join('\n')).toHaveLength(FILES);
}

/** What is there more often than it should be. */
async function unexpected(seed: number): Promise<string[]> {
  const left = [...EXPECTED];
  return (await stored(seed)).filter((document) => {
    const at = left.indexOf(document);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
