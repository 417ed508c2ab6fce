import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { spool } from '../../../../src/core/documents/content/spool.ts';
import { need } from '../../../support/capabilities.ts';
import { openBelow } from '../../../support/descriptors.ts';

async function* input(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

it('frees the disk space of what is too large, or ends early, at once; of what is whole when it is disposed of', async (context) => {
  need(context, 'proc');
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'molar-spool-'));
  try {
    const options = { label: '-', folder, limit: 4 };
    await expect(spool(input('abc', 'de'), options)).rejects.toMatchObject({ exitCode: 2 });
    await expect(spool(input('abc', new Error('cut off')), options)).rejects.toThrow('cut off');
    expect(openBelow(folder)).toEqual([]);
    const spooled = await spool(input('abc', 'd'), options);
    expect([spooled.size, openBelow(folder).length]).toEqual([4, 1]);
    await spooled.dispose();
    expect(openBelow(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
