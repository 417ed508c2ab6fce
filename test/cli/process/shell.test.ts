import { existsSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editorOf } from '../../../src/cli/process/editor.ts';
import { runShell } from '../../../src/cli/process/shell.ts';
import { need } from '../../support/capabilities.ts';
import { isRunning } from '../../support/processes.ts';

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
    const folder = await mkdtemp(join(tmpdir(), 'molar-shell-'));
    const file = join(folder, 'pid');
    const running = runShell(`echo $$ > "${file}.new"; mv "${file}.new" "${file}"; exec sleep 600`, aborting.signal);
    await expect.poll(() => existsSync(file)).toBe(true);
    const pid = Number(await readFile(file, 'utf8'));
    aborting.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
    await expect.poll(() => isRunning(pid)).toBe(false);
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
