import { spawn } from 'node:child_process';
import { readAll, unlessAborted } from '../terminal/streams.ts';

/**
 * Standard output of a command line run by the shell, its errors shown as they come. It keeps the terminal, on which it
 * may ask for something. Rejects unless it exits with 0, and with the reason of the signal, which ends the command.
 */
export async function runShell(line: string, signal: AbortSignal): Promise<string> {
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const work = Promise.all([readAll(child.stdout), ended]);
  const [text, code] = await unlessAborted(work, signal).catch((cause: unknown) => {
    if (signal.aborted) {
      child.kill();
      // What it started may live on and hold its output open.
      child.stdout.destroy();
    }
    throw cause;
  });
  if (code !== 0) throw new Error(`The command ended with ${code ?? 'a signal'}.`);
  return text;
}
