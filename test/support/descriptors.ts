import { readdirSync, readlinkSync } from 'node:fs';

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
