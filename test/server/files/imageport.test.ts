import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type * as sources from '../../../src/server/files/imageport.ts';
import { need } from '../../support/capabilities.ts';

// Sources run in this process: what the build made of them starts another one.
const { runTask } = createRequire(import.meta.url)('../../../dist/server/files/imageport.js') as typeof sources;

const EDGE = 2000;
/** A progressive JPEG with all colours takes six bytes a pixel. */
const ENOUGH = EDGE * EDGE * 6.5;

let folder: string;
let source: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-imageport-'));
  source = join(folder, 'source');
  const image = sharp({ create: { width: EDGE, height: EDGE, channels: 3, background: '#123456' } });
  await writeFile(source, await image.jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer());
  process.env.MOLAR_SECRET_OF_THE_TEST = 'hush';
});
afterAll(async () => {
  delete process.env.MOLAR_SECRET_OF_THE_TEST;
  await rm(folder, { recursive: true });
});

const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
const environment = (pid: number) => readFileSync(`/proc/${pid}/environ`, 'latin1');
const working = () => children().filter((pid) => environment(pid).includes('JPEGMEM='));

/** Ends what works on images, and waits until it is gone. */
async function endAll(): Promise<void> {
  for (const pid of working()) process.kill(pid, 'SIGKILL');
  await expect.poll(working).toEqual([]);
}

const make = (name: string) => ({
  source,
  make: { target: join(folder, name), maxPixels: EDGE * EDGE, size: { width: 200, height: 200, fit: 'fill' as const } },
});

describe('the process that works on images', () => {
  beforeEach(async (context) => {
    need(context, 'proc');
    await endAll();
    expect(await runTask(make('a'), ENOUGH)).toHaveProperty('facts');
  });

  it('is another one, sees nothing of the environment, and works on several images at once', async () => {
    const replies = await Promise.all(['a', 'b', 'c'].map((name) => runTask(make(name), ENOUGH)));
    expect(replies).toEqual(Array(3).fill({ facts: expect.objectContaining({ width: EDGE, progressive: true }) }));
    expect((await sharp(join(folder, 'a')).metadata()).width).toBe(200);
    const pids = working();
    expect(pids).toHaveLength(1);
    expect(pids.map(environment).join()).not.toContain('hush');
  });

  it('may be killed: what it works on is answered, and the next image has another one', async () => {
    const before = working();
    const replies = Promise.all(['a', 'b'].map((name) => runTask(make(name), ENOUGH)));
    for (const pid of before) process.kill(pid, 'SIGKILL');
    expect(await replies).toEqual(Array(2).fill({ fault: 'process', message: expect.any(String) }));
    expect(await runTask(make('a'), ENOUGH)).toHaveProperty('facts');
    expect(working()).toHaveLength(1);
    expect(before).toHaveLength(1);
    expect(working()).not.toEqual(before);
  });

  it('takes no more for a JPEG than it may', async () => {
    await endAll();
    expect(await runTask(make('a'), ENOUGH / 2)).toMatchObject({ fault: 'image' });
  });
});
