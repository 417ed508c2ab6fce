import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import BookmarksList from '../../../src/commands/export/bookmarks/list.ts';
import BookmarksReset from '../../../src/commands/export/bookmarks/reset.ts';
import ExportFolder from '../../../src/commands/export/index.ts';
import ExportVerify from '../../../src/commands/export/verify.ts';
import PatientsList from '../../../src/commands/patients/list.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';
import { desk, Practice } from './practice.ts';

async function withBookmark() {
  const { env, at } = await desk();
  const practice = new Practice();
  practice.rows.patients = [{ id: 1 }, { id: 2 }];
  const export_ = (...argv: string[]) =>
    runCommand('patients:list', PatientsList, ['--fields', 'id', ...argv], { script: practice.script, env });
  const reset = (argv: readonly string[], world: World = {}) =>
    runCommand('export:bookmarks:reset', BookmarksReset, argv, { env, ...world });
  const list = () => runCommand('export:bookmarks:list', BookmarksList, ['--json'], { env });
  await export_('--since-last', 'nightly');
  return { env, at, export_, reset, list };
}

describe('export bookmarks', () => {
  it('lists what is kept', async () => {
    const { list } = await withBookmark();
    expect(JSON.parse((await list()).stdout)).toEqual([
      {
        name: 'nightly',
        resource: 'patients',
        since: '2026-03-02T11:55:00.000Z',
        lastRun: '2026-03-02T12:00:00.000Z',
        filter: null,
        organization: 'org-1',
        url: 'https://api.example.com',
      },
    ]);
  });

  it.each<[string, readonly string[], World, number, number]>([
    ['with --yes', ['nightly', '--yes'], {}, 0, 0],
    ['of one resource', ['nightly', '--resource', 'patients', '--yes'], {}, 0, 0],
    ['of another resource', ['nightly', '--resource', 'events', '--yes'], {}, 2, 1],
    ['of another organization', ['nightly', '--organization', 'org-2', '--yes'], {}, 2, 1],
    ['of another name', ['weekly', '--yes'], {}, 2, 1],
    ['without a terminal to ask on', ['nightly'], {}, 2, 1],
    ['after a yes', ['nightly'], { terminal: 80, confirm: async () => true }, 0, 0],
    ['after a no', ['nightly'], { terminal: 80, confirm: async () => false }, 130, 1],
  ])('resets %s', async (_name, argv, world, exitCode, left) => {
    const { reset, list } = await withBookmark();
    expect((await reset(argv, world)).exitCode).toBe(exitCode);
    expect(JSON.parse((await list()).stdout)).toHaveLength(left);
  });

  it('asks with what is lost, and says what was removed', async () => {
    const { reset } = await withBookmark();
    const asked: string[] = [];
    const confirm = async (question: string) => asked.push(question) > 0;
    const ran = await reset(['nightly'], { terminal: 80, confirm });
    expect(asked).toEqual(['Remove 1 bookmark of nightly? The next run exports everything.']);
    expect(ran.stderr).toContain('Removed nightly of patients.');
  });

  it('removes nothing when the question is left without an answer, or interrupted', async () => {
    const { reset, list } = await withBookmark();
    const away = await reset(['nightly'], { terminal: 80, confirm: () => Promise.reject(new Error('closed')) });
    expect([away.exitCode, away.stderr]).toEqual([130, expect.stringContaining('Nothing was removed.')]);
    const interrupt = new AbortController();
    const confirm = async () => {
      interrupt.abort(localFailure('run.interrupted', 'Interrupted by SIGTERM.'));
      return true;
    };
    const ended = await reset(['nightly'], { terminal: 80, confirm, signal: interrupt.signal });
    expect([ended.exitCode, ended.stderr]).toEqual([130, expect.stringContaining('Interrupted by SIGTERM.')]);
    expect(JSON.parse((await list()).stdout)).toHaveLength(1);
  });

  it('resets those of every resource', async () => {
    const { env, folder } = await desk();
    const practice = new Practice();
    Object.assign(practice.rows, { patients: [], events: [] });
    const argv = ['patients', 'events', '--since-last', 'nightly', '--to', join(folder, 'out')];
    await runCommand('export', ExportFolder, argv, { script: practice.script, env });
    const list = async () =>
      JSON.parse((await runCommand('export:bookmarks:list', BookmarksList, ['--json'], { env })).stdout);
    expect(await list()).toHaveLength(2);
    await runCommand('export:bookmarks:reset', BookmarksReset, ['nightly', '--yes'], { env });
    expect(await list()).toEqual([]);
  });

  it('names the ones there are', async () => {
    const { reset } = await withBookmark();
    expect((await reset(['weekly', '--yes'])).stderr).toContain(
      'There is no such bookmark weekly. There are: nightly.',
    );
  });
});

describe('export verify', () => {
  it('says of whole files what they are, and ends with 9 or 6 when all or some are not', async () => {
    const { export_, at, env } = await withBookmark();
    const verify = (...argv: string[]) => runCommand('export:verify', ExportVerify, argv, { env });
    await export_('--out', at('a.csv'), '--receipt');
    await export_('--out', at('b.csv'), '--receipt');
    const whole = await verify(at('a.csv'), at('b.csv'));
    expect(whole).toMatchObject({ exitCode: 0, stderr: '' });
    expect(whole.stdout).toMatch(
      /^.*a\.csv is complete: 2 rows, exported 2026-\S+, sha256 [0-9a-f]{64}\n.*b\.csv is complete.*\n$/,
    );
    expect(await verify(at('a.csv'), '--quiet')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(JSON.parse((await verify(at('a.csv'), '--json')).stdout)).toMatchObject([{ complete: true, rows: 2 }]);
    await appendFile(at('b.csv'), '3\n');
    const some = await verify(at('a.csv'), at('b.csv'));
    expect(some.exitCode).toBe(6);
    expect(some.stderr).toContain('b.csv is not complete: it has 3 records, and 2 were exported.');
    expect(some.stdout).toMatch(/^.*a\.csv is complete: [^\n]*\n$/);
    const none = await verify(at('b.csv'), '--json');
    expect([none.exitCode, none.stdout]).toEqual([9, '']);
    expect(jsonFailure(none).exitCode).toBe(9);
    await writeFile(at('c.csv'), 'id\n');
    expect((await verify(at('c.csv'))).stderr).toContain('has no receipt');
  });

  it('ends with the signal, whatever it has found so far', async () => {
    const { at, env } = await withBookmark();
    const signal = AbortSignal.abort(localFailure('run.interrupted', 'Interrupted.'));
    const ran = await runCommand('export:verify', ExportVerify, [at('none.csv'), at('p.csv')], { env, signal });
    expect(ran).toMatchObject({ exitCode: 130, stdout: '' });
  });
});
