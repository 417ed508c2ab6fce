import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { digest, distElsewhere, TARGETS } from './archives.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Bytes that an archive of a release may have, as CONTRIBUTING.md has them: deflate packs less than xz does. */
const MOST = { xz: 40_000_000, zip: 48_000_000 };

/** What is made of all targets elsewhere has the same bytes as what is in a folder. */
export async function expectSameElsewhere(release: string, out: string, flags: readonly string[], place: string) {
  const targets = TARGETS.flatMap((target) => ['--target', target]);
  const again = await distElsewhere([...targets, ...flags, '--out', out], place);
  expect(again.code, again.stderr).toBe(0);
  for (const name of await readdir(release))
    expect(await digest(join(out, name)), name).toBe(await digest(join(release, name)));
}

/** An archive of a release is no larger than is said. */
export async function expectSmall(archive: string): Promise<void> {
  const { size } = await stat(archive);
  expect(size).toBeLessThanOrEqual(archive.endsWith('.zip') ? MOST.zip : MOST.xz);
}

/**
 * The program of an unpacked archive for Linux has no symbols, and all that says what molar needs has the newest glibc that
 * any machine code in it asks for, 2.`glibc`. `code` is what `file` says of each.
 */
export async function expectLinux(folder: string, code: readonly string[], glibc: number): Promise<void> {
  const launchers = code.filter((kind) => kind.includes(' executable, '));
  expect(launchers).toEqual([expect.stringMatching(/, stripped$/)]);
  for (const file of [join(folder, 'README.txt'), join(ROOT, 'bin/packages/install.sh')])
    expect(await readFile(file, 'utf8')).toContain(`glibc 2.${glibc} or `);
  const needed = { deb: `libc6 (>= 2.${glibc})`, rpm: `libc.so.6(GLIBC_2.${glibc})` };
  for (const [kind, text] of Object.entries(needed))
    expect(await readFile(join(ROOT, `bin/packages/${kind}.mjs`), 'utf8')).toContain(text);
}
