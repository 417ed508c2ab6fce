import { randomBytes } from 'node:crypto';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import { Permutation } from '../../../src/core/mirror/deidentify/permutation.ts';
import { need, OWNER_ONLY } from '../../support/capabilities.ts';
import { openPlace } from './deidentified.ts';
import { queried } from './oracle.ts';
import { bytesBelow } from './originals.ts';

type Place = Awaited<ReturnType<typeof openPlace>>;

let folder: string;
let file: string;
let key: string;
let sync: Place['sync'];
let verify: Place['verify'];
let run: Place['run'];

beforeEach(async () => {
  ({ folder, file, key, sync, verify, run } = await openPlace());
});

describe('the key of a de-identified mirror', () => {
  it('is made for its owner alone, kept, and told from another one', async () => {
    expect(await sync()).toMatchObject({ exitCode: 0, stderr: '' });
    const facts = await stat(key);
    expect([facts.size, facts.mode & 0o777]).toEqual([32, OWNER_ONLY.file]);
    const secret = await readFile(key);
    const status = async (of: string) =>
      (await run('mirror:status', MirrorStatus, ['--to', of, '--json'])).json.deidentified;
    expect(await status(file)).toBe(true);
    // The same key gives the same pseudonyms, another one others.
    const [second, third] = [join(folder, 'second.db'), join(folder, 'third.db')];
    await sync(['--deidentify', key], {}, second);
    await sync(['--deidentify', join(folder, 'other.key')], {}, third);
    const ids = (of: string) => queried(of, 'SELECT id FROM patients ORDER BY id');
    expect(ids(second)).toEqual(ids(file));
    expect(ids(third)).not.toEqual(ids(file));
    expect((await bytesBelow(folder, ['the.key'])).includes(secret)).toBe(false);

    await sync([], {}, join(folder, 'clear.db'));
    expect(await status(join(folder, 'clear.db'))).toBe(false);
    const REFUSED = [
      [file, join(folder, 'other.key'), 'is not the key that'],
      [file, join(folder, 'not-there.key'), 'is not there'],
      [join(folder, 'clear.db'), key, 'in the clear'],
    ] as const;
    for (const [of, named, why] of REFUSED) {
      const ran = await sync(['--deidentify', named], {}, of);
      expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    expect(await stat(join(folder, 'not-there.key')).catch(() => 'none')).toBe('none');
    await writeFile(join(folder, 'short.key'), 'too short');
    const short = await sync(['--deidentify', join(folder, 'short.key')], {}, join(folder, 'new.db'));
    expect([short.exitCode, short.stderr]).toEqual([2, expect.stringContaining('32 bytes')]);
    await rm(key);
    expect(await sync([])).toMatchObject({ exitCode: 9, stderr: expect.stringContaining('the.key') });
    // It may lie elsewhere by now.
    const moved = join(folder, 'moved.key');
    await writeFile(moved, secret);
    await chmod(moved, 0o600);
    expect(await sync(['--deidentify', moved])).toMatchObject({ exitCode: 0 });
    expect(await verify()).toMatchObject({ exitCode: 0 });
  });

  it('is made with the folder that is to hold it, and no other file is taken for one', async () => {
    const held = join(folder, 'keys', 'analysis', 'the.key');
    expect(await sync(['patients', '--deidentify', held])).toMatchObject({ exitCode: 0, stderr: '' });
    expect([(await stat(held)).mode & 0o777, (await stat(dirname(held))).mode & 0o777]).toEqual([
      OWNER_ONLY.file,
      OWNER_ONLY.folder,
    ]);
    const WRONG = [
      ['empty.key', Buffer.alloc(0), 'it has 0'],
      ['long.key', Buffer.alloc(33), 'it has 33'],
      // Somebody wrote it in hex.
      ['hex.key', Buffer.from('7'.repeat(64)), 'it has 64'],
    ] as const;
    for (const [name, bytes, why] of WRONG) {
      await writeFile(join(folder, name), bytes);
      const ran = await sync(['--deidentify', join(folder, name)], {}, join(folder, 'new.db'));
      expect([ran.exitCode, ran.stderr]).toEqual([2, expect.stringContaining(why)]);
      expect(await readFile(join(folder, name))).toEqual(bytes);
    }
    const aFolder = await sync(['--deidentify', dirname(held)], {}, join(folder, 'new.db'));
    expect([aFolder.exitCode, aFolder.stderr]).toEqual([9, expect.stringContaining('not a regular file')]);
    expect(await stat(join(folder, 'new.db')).catch(() => 'none')).toBe('none');
  });

  it('which others may read is used, and that is said', async (context) => {
    need(context, 'modes');
    await sync(['patients', '--deidentify', key]);
    await chmod(key, 0o640);
    expect(await sync(['patients'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`${key}: chmod 600`),
    });
    await chmod(key, 0o400);
    expect(await sync(['patients'])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('turns every id into another one, and back', async () => {
    const permutation = new Permutation(randomBytes(32));
    const ids = [1n, 2n, 3n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n];
    for (let id = 70_000_000_000_000n; id < 70_000_000_002_000n; id++) ids.push(id);
    const pseudonyms = ids.map((id) => permutation.pseudonym(id) ?? 0n);
    expect(new Set(pseudonyms).size).toBe(ids.length);
    expect(pseudonyms.map((each) => permutation.original(each))).toEqual(ids);
    expect(
      pseudonyms.every(
        (each, at) => each > 0n && each < 2n ** 63n && each < 2n ** 53n === (ids[at] as bigint) < 2n ** 53n,
      ),
    ).toBe(true);
    // Neighbours are nowhere near each other: half of the bits differ.
    const bits = pseudonyms
      .slice(7)
      .map((each, at) => (each ^ (pseudonyms[at + 6] as bigint)).toString(2).replaceAll('0', '').length);
    const mean = bits.reduce((sum, each) => sum + each, 0) / bits.length;
    expect(Math.abs(mean - 26.5)).toBeLessThan(0.5);
    expect([0n, -1n, 2n ** 63n].map((id) => permutation.pseudonym(id))).toEqual([undefined, undefined, undefined]);
  });
});
