import { onTestFinished } from 'vitest';
import { system } from '../../src/filesystem/system.ts';

/** Replaces what `src/filesystem` asks of the system, until the test ends. */
export function replaceSystem(parts: Partial<typeof system>): void {
  const before = { ...system };
  Object.assign(system, parts);
  onTestFinished(() => void Object.assign(system, before));
}

/** An error of the system, such as `EBUSY`. */
export function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected`), { code });
}

/** Windows as far as its file system goes, where access lists are set and time passes at once; `parts` besides. */
export function onWindows(parts: Partial<typeof system> = {}): { readonly slept: number[] } {
  const slept: number[] = [];
  replaceSystem({
    platform: 'win32',
    run: async () => '"desk\\ann","S-1-5-21-1-2-3-1001"\r\n',
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted();
      slept.push(milliseconds);
    },
    ...parts,
  });
  return { slept };
}
