import { describe, expect, it } from 'vitest';
import DocumentsDelete from '../../../src/commands/documents/delete.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { broken, problem, Script, success } from '../../core/transport/script.ts';

const remove = (argv: readonly string[], world?: World) => runCommand('documents:delete', DocumentsDelete, argv, world);
const done = () => new Script(success({ id: 5 }));

describe('documents delete', () => {
  it('prints the id and says so', async () => {
    const script = done();
    const ran = await remove(['5', '--yes'], { script });
    expect(ran).toEqual({ exitCode: 0, stdout: '{\n  "id": 5\n}\n', stderr: 'Deleted document 5.\n' });
    expect(script.requests[0]).toMatchObject({ method: 'DELETE', url: 'https://api.example.com/api/v1/documents/5' });
  });

  it('asks on a terminal', async () => {
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) > 0;
    const ran = await remove(['5'], { script: done(), terminal: 80, confirm });
    expect(ran.exitCode).toBe(0);
    expect(questions).toEqual(['Delete document 5? This cannot be undone.']);
  });

  it.each([
    ['no', async () => false],
    ['Ctrl-C', () => Promise.reject(new Error('closed'))],
  ])('does nothing when the answer is %s', async (_name, confirm) => {
    const ran = await remove(['5'], { terminal: 80, confirm });
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
