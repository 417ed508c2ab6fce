import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import ExportVerify from '../../../src/commands/export/verify.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import type { Send } from '../../../src/core/transport/send.ts';
import { problem } from '../../core/transport/script.ts';
import { type Ran, runCommand, type World } from '../runcommand.ts';
import { BOTH, nightly, refused } from './nightly.ts';
import { desk, Practice } from './practice.ts';

/** A clock that stands at a time of 2026-03-02. */
const at = (time: string) => ({ clock: { now: () => Date.parse(`2026-03-${time}Z`), sleep: async () => undefined } });

const changed = (id: number, lastModified: string) => ({ id, lastName: `Name ${id}`, lastModified });
const LINE = [...BOTH, '--since-last', 'nightly'];

/** A folder after its first run, at noon of 2 March. */
async function afterFirst() {
  const place = await nightly();
  await place.run(LINE, at('02T12:00:00'));
  const whole = { patients: await place.read('patients.csv'), receipt: await place.read('patients.csv.receipt.json') };
  const change = (...ids: readonly number[]) => {
    place.practice.rows.patients = [1, 2, 3].map((id) =>
      changed(id, ids.includes(id) ? '2026-03-03T04:59:00.000Z' : '2026-01-01T00:00:00.000Z'),
    );
  };
  return { ...place, whole, change };
}

describe('export --since-last into a folder', () => {
  it('writes the first run whole, and later ones beside it, as what they are', async () => {
    const { run, change, read, names, summary, whole, practice } = await afterFirst();
    expect(JSON.parse(whole.receipt)).toMatchObject({ kind: 'whole', rows: 3 });
    expect(practice.count('patients')).toBe(2);
    change(2);
    const ran = await run(LINE, at('03T05:00:07.900'));
    const file = 'patients.changes.2026-03-03T05-00-07Z.csv';
    expect(ran).toMatchObject({ exitCode: 0, stdout: '' });
    expect(ran.stderr.split('\n')).toEqual([
      `Only what changed since the last complete run is in ${file} (1 row); no changes of transactions. Complete files are unchanged.`,
      expect.stringMatching(/^Exported 1 file to .*: 1 row, /),
      '',
    ]);
    expect(await names()).toEqual([
      file,
      `${file}.receipt.json`,
      'patients.csv',
      'patients.csv.receipt.json',
      'summary.json',
      'transactions.csv',
      'transactions.csv.receipt.json',
    ]);
    expect([await read('patients.csv'), await read('patients.csv.receipt.json')]).toEqual([
      whole.patients,
      whole.receipt,
    ]);
    expect(await read(file)).toBe('id\n2\n');
    const sha256 = createHash('sha256').update('id\n2\n').digest('hex');
    const facts = { kind: 'changes', rows: 1, sha256, filter: 'lastModified>=2026-03-02T11:55:00.000Z' };
    expect(JSON.parse(await read(`${file}.receipt.json`))).toMatchObject({ file, ...facts });
    expect(await summary()).toMatchObject({
      totals: { files: 1, rows: 1 },
      files: [
        { file, ...facts, resource: 'patients' },
        { file: null, kind: 'changes', resource: 'transactions', status: 'complete', rows: 0 },
      ],
    });
  });

  it('keeps the files of every night for who missed one', async () => {
    const { run, change, names, read } = await afterFirst();
    change(1);
    await run(LINE, at('03T05:00:00'));
    change(1, 3);
    // In the same second: no file of changes replaces another one.
    await run(LINE, at('03T05:00:00'));
    await run(LINE, at('04T05:00:00'));
    expect((await names()).filter((name) => /changes.*csv$/.test(name))).toEqual([
      'patients.changes.2026-03-03T05-00-00Z.csv',
      'patients.changes.2026-03-03T05-00-01Z.csv',
    ]);
    expect(await read('patients.changes.2026-03-03T05-00-00Z.csv')).toBe('id\n1\n');
    expect(await read('patients.changes.2026-03-03T05-00-01Z.csv')).toBe('id\n3\n');
  });

  it('writes everything anew once its bookmark was reset', async () => {
    const { run, bookmarkFolder, read, names } = await afterFirst();
    await rm(bookmarkFolder, { recursive: true });
    expect((await run(LINE, at('03T05:00:00'))).stderr).toMatch(/^Exported 2 files/);
    expect(await read('patients.csv')).toBe('id\n1\n2\n3\n');
    expect((await names()).filter((name) => name.includes('changes'))).toEqual([]);
  });

  it('prints the kinds with --json, and nothing but JSON', async () => {
    const { run, change, read } = await afterFirst();
    change(2);
    const ran = await run([...LINE, '--json'], at('03T05:00:00'));
    expect(ran.stdout).toBe(await read('summary.json'));
    expect(JSON.parse(ran.stdout).files.map(({ kind }: { kind: string }) => kind)).toEqual(['changes', 'changes']);
  });

  it('is resumed under the name that the run began with, with nothing lost and nothing doubled', async () => {
    const { run, change, read, names, summary, practice, whole } = await afterFirst();
    change(1, 2, 3);
    practice.rows.transactions = [7, 8].map((id) => changed(id, '2026-03-03T01:00:00.000Z'));
    practice.instead = (segment, { url }) =>
      segment === 'transactions' && url.includes('lastId=7') ? problem(503, 'server.down', null, 'No.') : undefined;
    const line = [...LINE, '--page-size', '1', '--resume', '--max-retries', '0'];
    expect((await run(line, at('03T05:00:00'))).exitCode).toBe(6);
    const part = 'transactions.changes.2026-03-03T05-00-00Z.csv.part';
    expect(await names()).toEqual(expect.arrayContaining([part, `${part}.json`]));
    expect((await summary()).files[1]).toMatchObject({ kind: 'changes', status: 'failed', resumable: { rows: 1 } });
    practice.instead = () => undefined;
    const before = practice.count('patients');
    expect((await run(line, at('04T05:00:00'))).exitCode).toBe(0);
    expect(practice.count('patients')).toBe(before);
    expect(await read('patients.changes.2026-03-03T05-00-00Z.csv')).toBe('id\n1\n2\n3\n');
    expect(await read('transactions.changes.2026-03-03T05-00-00Z.csv')).toBe('id\n7\n8\n');
    expect((await names()).filter((name) => /part|molar|04T05/.test(name))).toEqual([]);
    expect(await read('patients.csv')).toBe(whole.patients);
  });

  it('that starts over leaves no part of the run before', async () => {
    const { run, change, read, names, practice } = await afterFirst();
    change(1, 2);
    practice.instead = (segment, { url }) =>
      segment === 'patients' && url.includes('lastId=1') ? problem(503, 'server.down', null, 'No.') : undefined;
    const line = [...LINE, '--page-size', '1', '--max-retries', '0'];
    expect((await run(line, at('03T05:00:00'))).exitCode).toBe(6);
    practice.instead = () => undefined;
    await run(line, at('04T05:00:00'));
    expect(await read('patients.changes.2026-03-04T05-00-00Z.csv')).toBe('id\n1\n2\n');
    expect((await names()).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('finishes a first run that moved some of its bookmarks only', async () => {
    const { run, practice, read, names, bookmarkFolder } = await nightly();
    practice.instead = refused('transactions');
    await run(LINE, at('02T12:00:00'));
    practice.instead = () => undefined;
    await run([...LINE, '--resume'], at('02T12:10:00'));
    // As a kill leaves it: the state is still there, and one bookmark is not.
    const [first = ''] = (await readdir(bookmarkFolder)).filter((name) => name.includes('transactions'));
    await rm(join(bookmarkFolder, first));
    expect((await run([...LINE, '--resume'], at('02T12:20:00'))).exitCode).toBe(0);
    expect(await read('transactions.csv')).toBe('id\n7\n8\n');
    expect((await names()).filter((name) => name.includes('changes'))).toEqual([]);
  });

  it('goes on in a folder of an earlier molar, and says once how to make it whole', async () => {
    const { run, folder, change, summary, names, read } = await afterFirst();
    const { files, ...rest } = await summary();
    const earlier = files.map(({ kind: _, ...file }: { kind: string }) => file);
    await writeFile(`${folder}/summary.json`, JSON.stringify({ ...rest, files: earlier }));
    await writeFile(`${folder}/patients.csv`, 'id\n2\n');
    change(3);
    const hint = 'To export them again: molar export bookmarks reset nightly, then this command again.';
    expect((await run(LINE, at('03T05:00:00'))).stderr).toContain(hint);
    expect(await read('patients.csv')).toBe('id\n2\n');
    expect(await names()).toContain('patients.changes.2026-03-03T05-00-00Z.csv');
    expect((await run(LINE, at('04T05:00:00'))).stderr).not.toContain(hint);
  });

  it('is verified as what it is', async () => {
    const { run, change, folder } = await afterFirst();
    change(2);
    await run(LINE, at('03T05:00:00'));
    const file = join(folder, 'patients.changes.2026-03-03T05-00-00Z.csv');
    const ran = await runCommand('export:verify', ExportVerify, [file, join(folder, 'patients.csv')]);
    expect(ran.stdout).toMatch(
      /Z\.csv is as it was exported, changes only: 1 row,.*\n.*patients\.csv is complete: 3 rows/,
    );
  });
});

describe('list --since-last --out', () => {
  async function place() {
    const { env, folder, at: path } = await desk();
    const practice = new Practice();
    practice.rows.patients = [changed(1, '2026-01-01T00:00:00.000Z'), changed(2, '2026-01-01T00:00:00.000Z')];
    const argv = ['--fields', 'id', '--since-last', 'n', '--out', path('p.csv')];
    const list = (more: readonly string[], time: string, world: World = {}) =>
      runCommand('patients:list', PatientsList, [...argv, ...more], {
        ...{ script: practice.script, env, ...at(time) },
        ...world,
      });
    const read = (name: string) => readFile(join(folder, name), 'utf8');
    const names = async () => (await readdir(folder)).filter((name) => name !== 'config').toSorted();
    return { practice, list, read, names, path };
  }

  it('never replaces the whole file, and says which file has the changes', async () => {
    const { practice, list, read, names, path } = await place();
    expect((await list([], '02T12:00:00')).stderr).toContain(`Wrote 2 patients to ${path('p.csv')} (`);
    practice.rows.patients = [changed(1, '2026-03-03T01:00:00.000Z'), changed(2, '2026-01-01T00:00:00.000Z')];
    const { stderr } = await list(['--receipt'], '03T05:00:00');
    const file = 'p.changes.2026-03-03T05-00-00Z.csv';
    expect(stderr).toContain(`Wrote 1 patient that changed to ${path(file)} (`);
    expect(stderr).toContain(`${path('p.csv')} is unchanged.\n`);
    expect([await read('p.csv'), await read(file)]).toEqual(['id\n1\n2\n', 'id\n1\n']);
    expect(JSON.parse(await read(`${file}.receipt.json`))).toMatchObject({ file, kind: 'changes', rows: 1 });

    practice.rows.patients = [changed(1, '2026-01-01T00:00:00.000Z')];
    expect((await list([], '04T05:00:00')).stderr).toContain('No patients changed: no file was written (');
    expect(await names()).toEqual([file, `${file}.receipt.json`, 'p.csv']);
  });

  it('is resumed under the name that it began with', async () => {
    const { practice, list, read, names } = await place();
    await list([], '02T12:00:00');
    practice.rows.patients = [1, 2].map((id) => changed(id, '2026-03-03T01:00:00.000Z'));
    practice.instead = (_, { url }) =>
      url.includes('lastId=1') ? problem(503, 'server.down', null, 'No.') : undefined;
    const more = ['--page-size', '1', '--max-retries', '0', '--resume'];
    expect((await list(more, '03T05:00:00')).exitCode).toBe(8);
    practice.instead = () => undefined;
    const before = practice.asked.length;
    expect((await list(more, '04T05:00:00')).exitCode).toBe(0);
    expect(practice.asked[before]?.[1]).toMatchObject({ lastId: '1' });
    expect(await read('p.changes.2026-03-03T05-00-00Z.csv')).toBe('id\n1\n2\n');
    expect(await names()).toEqual(['p.changes.2026-03-03T05-00-00Z.csv', 'p.csv']);
  });

  it('lets no other run beside it, at whatever time that begins', async () => {
    const { practice, list, read, names, path } = await place();
    await list([], '02T12:00:00');
    practice.rows.patients = [1, 2].map((id) => changed(id, '2026-03-03T01:00:00.000Z'));
    let other: Promise<Ran> | undefined;
    const send: Send = async (request) => {
      // A path of its own for its changes: the complete file is what both have in common.
      other ??= list([], '03T05:00:01');
      await other;
      return practice.script.send(request);
    };
    const openNetwork = () => ({ send, close: async () => undefined });
    expect((await list([], '03T05:00:00', { openNetwork })).exitCode).toBe(0);
    expect(await other).toMatchObject({
      exitCode: 9,
      stderr: expect.stringContaining(`${path('p.csv')} is in use by process ${process.pid} since 2026-03-03T05:00:00`),
    });
    expect(await read('p.changes.2026-03-03T05-00-00Z.csv')).toBe('id\n1\n2\n');
    expect(await names()).toEqual(['p.changes.2026-03-03T05-00-00Z.csv', 'p.csv']);
  });

  it('sorts what changed', async () => {
    const { practice, list, read } = await place();
    await list(['--sort', '-id'], '02T12:00:00');
    practice.rows.patients = [1, 2].map((id) => changed(id, '2026-03-03T01:00:00.000Z'));
    await list(['--sort', '-lastName', '--parallel', '2', '--page-size', '1'], '03T05:00:00');
    const files = [await read('p.csv'), await read('p.changes.2026-03-03T05-00-00Z.csv')];
    expect(files).toEqual(['id\n2\n1\n', 'id\n2\n1\n']);
  });
});
