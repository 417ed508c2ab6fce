import { describe, expect, it } from 'vitest';
import { editorOf } from '../../../src/cli/process/editor.ts';
import { runShell } from '../../../src/cli/process/shell.ts';
import { need } from '../../support/capabilities.ts';

const { signal } = new AbortController();

describe('the output of a command of the shell', () => {
  it('is all that it printed', async (context) => {
    need(context, 'posixShell');
    expect(await runShell('printf "one\\ntwo\\n" | sed s/one/1/', signal)).toBe('1\ntwo\n');
  });

  it('does not count when the command fails', async (context) => {
    need(context, 'posixShell');
    for (const [line, message] of [
      ['echo hush; exit 3', 'The command ended with 3.'],
      ['echo hush; kill -9 $$', 'The command ended with a signal.'],
      ['no-such-program 2>&1', 'The command ended with 127.'],
    ] as const)
      await expect(runShell(line, signal)).rejects.toThrow(message);
  });

  it('is not waited for after an abort', async (context) => {
    need(context, 'posixShell');
    const aborting = new AbortController();
    const running = runShell('exec sleep 600', aborting.signal);
    aborting.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
  });
});

describe('the editor', () => {
  it.each([
    [{ VISUAL: 'code -w', EDITOR: 'vi' }, 'code -w'],
    [{ VISUAL: ' ', EDITOR: ' vi ' }, 'vi'],
    [{ EDITOR: 'vi' }, 'vi'],
    [{ VISUAL: '', EDITOR: '' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (env, editor) => {
    expect(editorOf(env)).toBe(editor);
  });
});
