import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSpool } from '../../../src/core/output/sink.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openSpool', () => {
  it('gives everything at the end, from a file that has no name', async () => {
    const written: Buffer[] = [];
    const sink = await openSpool(folder, async (chunk) => {
      // Whoever reads may be slow: until then what is to be written stays as it is.
      await setTimeout(1);
      written.push(Buffer.from(chunk));
    });
    const text = 'zwölf'.repeat(50_000);
    await sink.write(text);
    await sink.write('end');
    expect(await readdir(folder)).toEqual([]);
    expect(written).toEqual([]);
    await sink.commit();
    expect(Buffer.concat(written).toString()).toBe(`${text}end`);
  });

  it('gives nothing when it is given up', async () => {
    let written = 0;
    const sink = await openSpool(folder, async () => {
      written++;
    });
    await sink.write('x');
    await sink.abort();
    expect(written).toBe(0);
  });

  it('fails with 9 where it cannot write', async () => {
    const missing = join(folder, 'missing');
    await expect(openSpool(missing, async () => undefined)).rejects.toMatchObject({ code: 'local.file', exitCode: 9 });
  });
});
