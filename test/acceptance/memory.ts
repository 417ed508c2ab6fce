import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Tells the most memory that a process had, in kB, when it ends; what Linux calls `maxRSS` may be that of its parent. */
const TELL_MEMORY = String.raw`
import { existsSync, readFileSync } from 'node:fs';
process.on('exit', () => {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  process._rawDebug('memory', Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS));
});
`;

/** The environment of a process that tells its memory as the last line of standard error. */
export async function tellingMemory(folder: string): Promise<{ readonly NODE_OPTIONS: string }> {
  const file = join(folder, 'memory.mjs');
  await writeFile(file, TELL_MEMORY);
  return { NODE_OPTIONS: `--import=${pathToFileURL(file).href}` };
}

/** How much memory it told of, in kB; it has said nothing else. */
export function memoryTold(stderr: string): number {
  const [, told] = /^memory (\d+)\n$/.exec(stderr) ?? [];
  if (told === undefined) throw new Error(stderr);
  return Number(told);
}
