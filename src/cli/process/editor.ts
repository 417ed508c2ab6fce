import { spawn } from 'node:child_process';
import type { Environment } from '../../core/environment.ts';

/** The editor that VISUAL or EDITOR names, with its arguments; undefined where neither does. */
export function editorOf(env: Environment): string | undefined {
  return env.VISUAL?.trim() || env.EDITOR?.trim() || undefined;
}

/** Opens a file in an editor on this terminal, and waits for its end. Resolves with its exit code, null for a signal. */
export function editFile(editor: string, file: string, env: Environment): Promise<number | null> {
  const options = { stdio: 'inherit', env: { ...env } } as const;
  // The editor is a shell's line, as with git; the path is an argument, whatever it holds.
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${file}"`, { ...options, shell: true })
      : spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], options);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
