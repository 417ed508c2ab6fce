import { spawn } from 'node:child_process';
import { readAll } from './streams.ts';

/** Standard output of a command line run by the shell, its errors shown as they come; rejects unless it exits with 0. */
export async function runShell(line: string): Promise<string> {
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [text, code] = await Promise.all([readAll(child.stdout), ended]);
  if (code !== 0) throw new Error(`The command ended with ${code ?? 'a signal'}.`);
  return text;
}
