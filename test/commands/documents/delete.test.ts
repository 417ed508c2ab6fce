import { describe, expect, it } from 'vitest';
import DocumentsDelete from '../../../src/commands/documents/delete.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';
import { jsonFailure, runCommand, type World } from '../../cli/runcommand.ts';
import { answer, broken, problem, Script, success } from '../../core/transport/script.ts';

const remove = (argv: readonly string[], world?: World) => runCommand('documents:delete', DocumentsDelete, argv, world);
const done = () => new Script(success({ id: 5 }));

describe('documents delete', () => {
  it('prints the id and says so', async () => {
    const script = done();
    const ran = await remove(['5', '--yes'], { script });
    expect(ran).toEqual({ exitCode: 0, stdout: '{\n  "id": 5\n}\n', stderr: 'Deleted document 5.\n' });
    expect(script.requests[0]).toMatchObject({ method: 'DELETE', url: 'https://api.example.com/api/v1/documents/5' });
  });

  it.each<[string, () => IncomingResponse, unknown]>([
    ['data that is null', () => success(null), { id: 5 }],
    ['data without an id', () => success({}), { id: 5 }],
    ['data that is a list', () => success([]), { id: 5 }],
    ['the whole record', () => success({ id: 5, tagText: 'Cash' }), { id: 5, tagText: 'Cash' }],
    ['an id as text', () => success({ id: '5' }), { id: '5' }],
    ['an object that is no envelope', () => answer(200, '{}'), { id: 5 }],
    ['nothing at all', () => answer(204, ''), { id: 5 }],
  ])('is done when the answer has %s', async (_name, step, printed) => {
    const script = new Script(step);
    const ran = await remove(['5', '--yes'], { script });
    expect([ran.exitCode, JSON.parse(ran.stdout), ran.stderr]).toEqual([0, printed, 'Deleted document 5.\n']);
    const several = await remove(['5', '6', '--yes', '--format', 'ndjson'], { script: new Script(step, step) });
    expect([several.exitCode, several.stdout.match(/"deleted"/g)?.length]).toEqual([0, 2]);
  });

  it('is done when it may have been before and is gone at the next attempt', async () => {
    const script = new Script(answer(504, ''), problem(404, 'record.not_found', 'id', 'Gone.'));
    const ran = await remove(['5', '--yes'], { script });
    expect(ran).toEqual({ exitCode: 0, stdout: '{\n  "id": 5\n}\n', stderr: 'Deleted document 5.\n' });
  });

  it('is not done when a page of something else answers', async () => {
    const page = answer(200, '<html>Sign in</html>');
    const ran = await remove(['5', '--yes', '--max-retries', '0'], { script: new Script(page) });
    expect(ran).toMatchObject({ exitCode: 8, stdout: '' });
  });

  const asking = () => {
    const questions: string[] = [];
    return { questions, confirm: async (question: string) => questions.push(question) > 0 };
  };
  const gone = () => problem(404, 'record.not_found', 'id', 'Gone.');
  const named = (id: number, name: string) => success({ id, name });

  it('asks on a terminal, with the name', async () => {
    const { questions, confirm } = asking();
    const script = new Script(named(5, 'scan\u001b[2J.pdf'), success({ id: 5 }));
    expect((await remove(['5'], { script, terminal: 80, confirm })).exitCode).toBe(0);
    expect(questions).toEqual(['Delete document 5 (scan\ufffd[2J.pdf)? This cannot be undone.']);
    expect(script.queries[0]).toEqual({ responseFields: 'id,name,ownerPatient,userDefinedDate' });
  });

  it('asks without the name where it cannot be had', async () => {
    const { questions, confirm } = asking();
    const script = new Script(gone(), gone());
    expect((await remove(['5'], { script, terminal: 80, confirm })).exitCode).toBe(4);
    expect(questions).toEqual(['Delete document 5? This cannot be undone.']);
  });

  it.each<[string, readonly string[], readonly (readonly [number, string])[], string]>([
    [
      'two',
      ['5', '6'],
      [
        [5, 'a.pdf'],
        [6, 'b.pdf'],
      ],
      'Delete 2 documents (5 a.pdf; 6 b.pdf)? This cannot be undone.',
    ],
    [
      'many',
      ['1', '2', '3', '4', '5', '6', '7'],
      [],
      'Delete 7 documents (1, 2, 3, 4, 5 and 2 more)? This cannot be undone.',
    ],
  ])('asks once about %s', async (_name, argv, names, question) => {
    const { questions, confirm } = asking();
    const answers = argv.map((id) => success({ id: Number(id) }));
    const script = new Script(...names.map(([id, name]) => named(id, name)), ...answers);
    const ran = await remove(argv, { script, terminal: 80, confirm, env: { NO_COLOR: '1' } });
    expect([ran.exitCode, script.left, questions]).toEqual([0, 0, [question]]);
    expect(ran.stderr).toBe(`Deleted ${argv.length} documents.\n`);
  });

  it('says of several what became of each, and goes on behind one that fails', async () => {
    const script = new Script(gone(), success({ id: 6 }), problem(403, 'auth.scope_missing', null, 'No.'));
    const ran = await remove(['5', '6', '7', '8', '5', '--yes', '--csv'], { script });
    expect(ran.exitCode).toBe(6);
    expect(ran.stdout).toBe(
      'id,status,error\n5,missing,Not found (HTTP 404): Gone.\n6,deleted,\n7,failed,Not allowed (HTTP 403): No.\n8,failed,Not tried: Not allowed (HTTP 403): No.\n',
    );
    expect(ran.stderr).toContain('3 of 4 documents not deleted.');
    expect(ran.stderr).toContain('5: Not found (HTTP 404): Gone.');
  });

  it.each<[string, readonly string[], number, string]>([
    ['all are gone already', [], 4, ''],
    [
      'that does not matter',
      ['--ignore-missing'],
      0,
      '[{"id":5,"status":"missing","error":null},{"id":6,"status":"missing","error":null}]',
    ],
  ])('run again, when %s', async (_name, more, exitCode, stdout) => {
    const ran = await remove(['5', '6', '--yes', '--json', ...more], { script: new Script(gone(), gone()) });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stdout.replace(/\s/g, '')).toBe(stdout);
    if (exitCode !== 0)
      expect(jsonFailure(ran)).toMatchObject({ code: 'record.not_found', errors: [{ source: '5' }, { source: '6' }] });
  });

  it('passes over one that is gone when told to', async () => {
    const ran = await remove(['5', '--yes', '--ignore-missing'], { script: new Script(gone()) });
    expect(ran).toEqual({ exitCode: 0, stdout: '{\n  "id": 5\n}\n', stderr: 'There is no document 5.\n' });
  });

  it.each([
    ['not allowed', 403, 3],
    ['not possible now', 409, 5],
    ['a fault of the server', 500, 8],
  ])('passes over none that stays: %s', async (_name, status, exitCode) => {
    const stays = () => problem(status, 'record.stays', null, 'It stays.');
    const line = ['--yes', '--ignore-missing', '--max-retries', '0'];
    expect(await remove(['5', ...line], { script: new Script(stays()) })).toMatchObject({
      exitCode,
      stdout: '',
      stderr: expect.stringContaining('It stays.'),
    });
    const ran = await remove(['5', '6', ...line, '--csv'], { script: new Script(gone(), stays()) });
    expect([ran.exitCode, ran.stdout]).toEqual([6, expect.stringMatching(/\n5,missing,\n6,failed,.*It stays\.\n$/)]);
  });

  it('takes ids from standard input, which needs --yes', async () => {
    const script = new Script(success({ id: 5 }), success({ id: 6 }));
    const ran = await remove(['-', '--yes', '--csv', '--quiet'], { script, stdin: '\ufeffid\r\n5\r\n6\r\n' });
    expect(ran).toEqual({ exitCode: 0, stdout: 'id,status,error\n5,deleted,\n6,deleted,\n', stderr: '' });
    expect(await remove(['-'], { stdin: '5\n' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--yes'),
    });
  });

  it.each([
    ['an id that is none', ['5', 'x', '--yes'], '', 'ID must be a positive integer; "x" is none.'],
    [
      'an id that is none on standard input',
      ['-', '--yes'],
      '5 six',
      'Standard input must hold ids only, positive integers; "six" is none.',
    ],
    ['nothing on standard input', ['-', '--yes'], 'id\n', 'There are no ids on standard input.'],
    ['two readers of standard input', ['-', '--yes', '--token-stdin'], '5', '--token-stdin and - both read'],
    ['no id', ['--yes'], '', 'ID is missing.'],
  ])('refuses %s before anything is sent', async (_name, argv, stdin, message) => {
    expect(await remove(argv, { stdin })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });

  it('shows all requests of a dry run', async () => {
    const ran = await remove(['5', '6', '--dry-run']);
    expect(JSON.parse(ran.stdout)).toMatchObject([
      { url: expect.stringMatching(/5$/) },
      { url: expect.stringMatching(/6$/) },
    ]);
  });

  it.each([
    ['no', async () => false],
    ['Ctrl-C', () => Promise.reject(new Error('closed'))],
  ])('does nothing when the answer is %s', async (_name, confirm) => {
    const ran = await remove(['5'], { script: new Script(gone()), terminal: 80, confirm });
    expect(ran).toMatchObject({ exitCode: 130, stdout: '', stderr: expect.stringContaining('Nothing was deleted.') });
  });

  it('needs --yes where there is no terminal', async () => {
    const ran = await remove(['5']);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('--yes') });
  });

  it('sends nothing in a dry run and does not ask', async () => {
    const ran = await remove(['5', '--dry-run'], { terminal: 80 });
    expect(JSON.parse(ran.stdout)).toEqual({
      method: 'DELETE',
      url: 'https://api.example.com/api/v1/documents/5',
      headers: { Accept: 'application/json', Authorization: 'Bearer (removed)', 'Organization-ID': 'org-1' },
    });
  });

  it('counts as done when its first answer was lost and the document is gone', async () => {
    const script = new Script(broken(true), problem(404, 'record.not_found', 'id', 'Gone.'));
    expect(await remove(['5', '--yes', '--json', '--quiet'], { script })).toEqual({
      exitCode: 0,
      stdout: '{\n  "id": 5\n}\n',
      stderr: '',
    });
  });

  it('fails with 4 for a document that is not there', async () => {
    const script = new Script(problem(404, 'record.not_found', 'id', 'Gone.'));
    expect(await remove(['5', '--yes'], { script })).toMatchObject({ exitCode: 4, stdout: '' });
  });
});
