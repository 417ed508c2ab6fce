import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import MirrorExport from '../../../src/commands/mirror/export.ts';
import { Failure } from '../../../src/core/failure.ts';
import { OWNER_ONLY } from '../../support/capabilities.ts';
import { makeMirror } from '../../support/mirrorfile.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';

/** More than two pages of records are read together. */
const COUNT = 1_201;
const AS_OF = '2026-11-22T05:00:00.000Z';

let folder: string;
let to: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-mirrorexport-'));
  to = join(folder, 'out');
  makeMirror(
    join(folder, 'mirror.db'),
    'DELETE FROM patients',
    `INSERT INTO patients (id, _record) WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${COUNT})
      SELECT id, json_object('id', id, 'lastName', 'P' || id) FROM n`,
    `INSERT INTO patient_insurance_plans (id, _record) VALUES (7, '{"id":7}')`,
  );
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(words: readonly string[], world: World = {}, from = 'mirror.db') {
  const line = ['--from', join(folder, from), '--to', to, ...words];
  return runCommand('mirror:export', MirrorExport, line, world);
}

const summary = async () => JSON.parse(await readFile(join(to, 'summary.json'), 'utf8'));
const idsOf = async (name: string) => {
  const [, ...lines] = (await readFile(join(to, name), 'utf8')).trimEnd().split('\n');
  return lines.map((line) => Number(line.split(',')[0]));
};
const files = async () => (await readdir(to)).sort();
const states = ({ files: all }: { files: Stated[] }) =>
  all.map(({ resource, status, rows }) => [resource, status, rows]);

interface Stated {
  readonly resource: string;
  readonly status: string;
  readonly rows: number | null;
}

describe('molar mirror export', () => {
  it.each([
    ['names', ['patients', 'patientinsuranceplans']],
    ['names, one of them twice', ['patients', 'patientinsuranceplans', 'patients']],
  ])('writes a file for each resource that a line %s', async (_, words) => {
    const ran = await run(words);
    expect([ran.exitCode, ran.stdout]).toEqual([0, '']);
    expect(ran.stderr).toContain(`Exported 2 files to ${to}: 1,202 rows`);
    const names = ['patientinsuranceplans.csv', 'patients.csv'];
    expect(await files()).toEqual([...names.flatMap((name) => [name, `${name}.receipt.json`]), 'summary.json']);
    expect(await idsOf('patients.csv')).toEqual(Array.from({ length: COUNT }, (_, at) => at + 1));
    for (const name of await files()) expect((await stat(join(to, name))).mode & 0o777, name).toBe(OWNER_ONLY.file);
    expect((await stat(to)).mode & 0o777).toBe(OWNER_ONLY.folder);
    const facts = { complete: true, exitCode: 0, reason: 'complete', organization: 'org-1', sinceLast: null };
    expect(await summary()).toMatchObject({
      ...facts,
      url: 'https://api.example.com',
      totals: { files: 2, rows: 1_202 },
    });
    expect(states(await summary())).toEqual([
      ['patients', 'complete', COUNT],
      ['patientinsuranceplans', 'complete', 1],
    ]);
    const receipt = JSON.parse(await readFile(join(to, 'patients.csv.receipt.json'), 'utf8'));
    expect(receipt).toMatchObject({ asOf: AS_OF, rows: COUNT, kind: 'whole', proof: { by: 'mirror' } });
  });

  it.each([[[]], [['ALL']], [['ALL', 'patients']]])(
    'of %j writes what is complete, names what is not (6), and leaves out what the service does not give',
    async (words) => {
      const ran = await run([...words, '--json']);
      expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
      expect(jsonFailure(ran)).toMatchObject({
        ...{ code: 'run.partial', message: '1 of 3 files were not exported.' },
        hint: 'Run molar mirror sync, then export again.',
        errors: [expect.objectContaining({ source: 'appointments.csv' })],
      });
      expect((await files()).filter((name) => name.endsWith('.csv'))).toEqual([
        'patientinsuranceplans.csv',
        'patients.csv',
      ]);
      expect(await summary()).toMatchObject({ complete: false, exitCode: 6, reason: 'run.partial' });
      expect(states(await summary()).toSorted()).toEqual([
        ['appointments', 'failed', null],
        ['patientinsuranceplans', 'complete', 1],
        ['patients', 'complete', COUNT],
      ]);
    },
  );

  it.each([
    ['appointments', 'its first load is not finished'],
    ['events', 'it is not available: the token may not read it (403)'],
  ])('of %s alone writes nothing (6) and says why', async (resource, why) => {
    const ran = await run([resource, '--json']);
    expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
    expect(jsonFailure(ran)).toMatchObject({
      ...{ code: 'run.partial', hint: 'Run molar mirror sync, then export again.' },
      message: expect.stringContaining(why),
    });
    expect(await files()).toEqual(['summary.json']);
  });

  it('replaces no file by a part, and says until the end that it runs', async () => {
    await mkdir(to, { recursive: true });
    await writeFile(join(to, 'patients.csv'), 'before');
    await writeFile(join(to, 'summary.json'), '{"reason":"complete"}');
    const seen = new Set<string>();
    const look = () => {
      const { reason, exitCode, endedAt, files: all } = JSON.parse(readFileSync(join(to, 'summary.json'), 'utf8'));
      const status = all?.map((each: Stated) => each.status).join();
      seen.add([reason, exitCode, endedAt, status, readFileSync(join(to, 'patients.csv'), 'utf8').length].join(' '));
      return Date.parse('2026-11-22T06:00:00Z');
    };
    const ran = await run(['patients'], { clock: { now: look, sleep: async () => {} } });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const [first, second] = [...seen];
    // Whoever reads the summary before the first file is there finds nothing of the run before.
    expect([first, second]).toEqual(['complete    6', 'running   not tried 6']);
    expect(await summary()).toMatchObject({
      ...{
        reason: 'complete',
        exitCode: 0,
        startedAt: '2026-11-22T06:00:00.000Z',
        endedAt: '2026-11-22T06:00:00.000Z',
      },
    });
  });

  it('goes on to no other file where one cannot be written (9)', async () => {
    await mkdir(join(to, 'patients.csv'), { recursive: true });
    const ran = await run(['patients', 'patientinsuranceplans', '--json']);
    expect([ran.exitCode, jsonFailure(ran).code]).toEqual([9, 'local.file']);
    expect(states(await summary())).toEqual([
      ['patients', 'failed', null],
      ['patientinsuranceplans', 'not tried', null],
    ]);
    expect(await files()).toEqual(['patients.csv', 'summary.json']);
  });

  it('ends by a signal between two pages: no file is begun after it', async () => {
    const controller = new AbortController();
    // Signals arrive in a turn of the event loop, whatever is written meanwhile.
    const now = () => {
      setImmediate(() => controller.abort(new Failure('Interrupted.', { code: 'run.interrupted', exitCode: 130 })));
      return 0;
    };
    const ran = await run(['patients', 'patientinsuranceplans'], {
      ...{ clock: { now, sleep: async () => {} }, signal: controller.signal },
    });
    expect([ran.exitCode, ran.stderr]).toEqual([130, expect.stringContaining('Interrupted.')]);
    expect(await files()).toEqual(['summary.json']);
    expect(await summary()).toMatchObject({ complete: false, exitCode: 130, reason: 'run.interrupted' });
    expect(states(await summary())).toEqual([
      ['patients', 'failed', null],
      ['patientinsuranceplans', 'not tried', null],
    ]);
  });

  it('has a folder for itself', async () => {
    await mkdir(to, { recursive: true });
    const lock = join(to, '.molar-export.lock');
    const holder = { id: 'a', pid: process.pid, host: hostname(), startedAt: AS_OF };
    await writeFile(lock, JSON.stringify(holder));
    const refused = await run(['patients']);
    expect([refused.exitCode, refused.stderr]).toEqual([9, expect.stringContaining(`process ${process.pid}`)]);
    expect(await files()).toEqual(['.molar-export.lock']);
    await rm(lock);
    for (let time = 0; time < 2; time++) expect((await run(['patients'])).exitCode).toBe(0);
    expect(await files()).toEqual(['patients.csv', 'patients.csv.receipt.json', 'summary.json']);
  });

  it('makes nothing where the line or the mirror is wrong', async () => {
    const wrong: [readonly string[], number, string, string?][] = [
      [['patient'], 2, 'Did you mean patients?'],
      [['patients', '--format', 'table'], 2, 'table'],
      [['patients'], 4, 'molar mirror sync', 'none.db'],
    ];
    for (const [words, exitCode, why, from] of wrong) {
      const ran = await run(words, {}, from);
      expect([words, ran.exitCode, ran.stderr]).toEqual([words, exitCode, expect.stringContaining(why)]);
    }
    expect(await readdir(folder)).not.toContain('out');
  });
});
