import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spool } from '../../../../src/core/documents/content/spool.ts';
import { need } from '../../../support/capabilities.ts';
import { openBelow } from '../../../support/descriptors.ts';

async function* input(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), 'molar-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('spooled stdin', () => {
  it('is read back whole, as often as needed, and leaves no name behind', async () => {
    const source = await spool(input('abc', 'def', ''), { label: '-', folder, limit: 6 });
    for (let round = 0; round < 2; round++) {
      const reader = await source.open();
      const buffer = Buffer.alloc(10);
      expect([await reader.read(buffer, 2), buffer.toString('utf8', 0, 4), source.size]).toEqual([4, 'cdef', 6]);
      await reader.close();
    }
    expect(await readdir(folder)).toEqual([]);
    await source.dispose();
  });

  it('is refused beyond the limit before it fills the disk', async () => {
    let given = 0;
    const endless = async function* () {
      for (;;) {
        given += 10;
        yield Buffer.alloc(10);
      }
    };
    await expect(spool(endless(), { label: '-', folder, limit: 35 })).rejects.toMatchObject({ exitCode: 2 });
    expect(given).toBe(40);
  });

  it('fails with exit code 9 when it cannot be kept', async () => {
    const missing = join(folder, 'missing');
    await expect(spool(input('a'), { label: '-', folder: missing, limit: 5 })).rejects.toMatchObject({ exitCode: 9 });
  });

  it('frees its disk space at once where it is too large or ends early, otherwise when it is disposed of', async (context) => {
    need(context, 'proc');
    const options = { label: '-', folder, limit: 4 };
    await expect(spool(input('abc', 'de'), options)).rejects.toMatchObject({ exitCode: 2 });
    await expect(spool(input('abc', new Error('cut off')), options)).rejects.toThrow('cut off');
    expect(openBelow(folder)).toEqual([]);
    const spooled = await spool(input('abc', 'd'), options);
    expect([spooled.size, openBelow(folder).length]).toEqual([4, 1]);
    await spooled.dispose();
    expect(openBelow(folder)).toEqual([]);
  });
});
