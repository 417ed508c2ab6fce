import { type ChildProcess, spawn } from 'node:child_process';
import { platform } from 'node:os';
import { readAll, unlessAborted } from './streams.ts';

/**
 * Standard output of a command line run by the shell, its errors shown as they come. Rejects unless it exits with 0, and
 * with the reason of the signal, which ends the command and what it started.
 */
export async function runShell(line: string, signal: AbortSignal): Promise<string> {
  // Not for Ctrl-C of the terminal to reach twice: as a group of its own it is ended as a whole, here.
  const detached = platform() !== 'win32';
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'inherit'], detached });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const work = Promise.all([readAll(child.stdout), ended]);
  const [text, code] = await unlessAborted(work, signal).catch((cause: unknown) => {
    if (signal.aborted) endGroup(child, detached);
    throw cause;
  });
  if (code !== 0) throw new Error(`The command ended with ${code ?? 'a signal'}.`);
  return text;
}

/** Ends a child, and as far as it leads a group all of that; a reader of its output that lives on holds nobody up. */
function endGroup(child: ChildProcess, leads: boolean): void {
  child.stdout?.destroy();
  try {
    if (leads && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    else child.kill();
  } catch {
    // It has ended by itself.
  }
}
