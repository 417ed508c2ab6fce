import { existsSync, readdirSync, readlinkSync } from 'node:fs';

/** What was left open below a folder, which must be nothing; that is also said where no system tells it. */
export function leftOpenBelow(path: string): string[] {
  return existsSync('/proc/self/fd') ? openBelow(path) : [];
}

/** What this process has open below a folder, as Linux tells it (`need(context, 'proc')`). */
export function openBelow(path: string): string[] {
  const names = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // The one that lists them is closed by now.
      return [];
    }
  });
  return names.filter((name) => name.startsWith(`${path}/`));
}
