import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { openDiskFiles } from '../../../src/server/files/disk.ts';
import type { Files, Stage } from '../../../src/server/files/files.ts';
import { makeVariants } from '../../../src/server/files/images.ts';

test('a variant that a full disk does not take is let go, so that its file gives its room back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'molar-variants-'));
  const disk = await openDiskFiles(folder);
  const stages: string[] = [];
  const files: Files = {
    ...disk,
    async stage(name): Promise<Stage> {
      const stage = await disk.stage(name);
      stages.push(`stage ${name}`);
      return {
        write: async () => {
          throw Object.assign(new Error('No space left.'), { code: 'ENOSPC', syscall: 'write' });
        },
        finish: stage.finish,
        async discard() {
          stages.push(`discard ${name}`);
          await stage.discard();
        },
      };
    },
  };
  const source = join(folder, 'source');
  const image = sharp({ create: { width: 30, height: 20, channels: 3, background: '#00ff00' } });
  await writeFile(source, await image.png().toBuffer());
  const crop = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 2 };
  const outputs = { cropped: 'a-cropped', resized: 'a-resized', thumbnail: 'a-thumbnail' };
  await expect(makeVariants(files, source, crop, outputs, 1_000_000)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(stages).toEqual(['stage a-cropped', 'discard a-cropped']);
  expect(await disk.leftovers()).toEqual([]);
  await rm(folder, { recursive: true });
});
