import { spawn } from 'node:child_process';
import { untilAborted } from '../../core/abort.ts';
import { readAll } from '../terminal/streams.ts';

/** Standard output of a shell command, which may prompt on the terminal. Rejects unless it exits with 0; abort kills it. */
export async function runShell(line: string, signal: AbortSignal): Promise<string> {
  const child = spawn(line, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const work = Promise.all([readAll(child.stdout, undefined, 'The output of the command'), ended]);
  const [text, code] = await untilAborted(work, signal).catch((cause: unknown) => {
    if (signal.aborted) {
      child.kill();
      // Its own children may survive and keep the output open.
      child.stdout.destroy();
    }
    throw cause;
  });
  if (code !== 0) throw new Error(`The command ended with ${code ?? 'a signal'}.`);
  return text;
}
