import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeDemoSettings } from '../../../src/demo/start.ts';
import { openFolder } from '../../../src/server/datafolder.ts';
import { PNG } from '../../support/files.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

let place = '';
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'molar-folders-'));
});
afterAll(() => rm(place, { recursive: true, force: true }));

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** The path of everything below a folder that anybody but its owner may read, write or enter. */
async function openToOthers(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true });
  const modes = await Promise.all(all.map(async (name) => [name, await modeOf(join(folder, name))] as const));
  return modes.filter(([, mode]) => !mode.endsWith('00')).map(([name, mode]) => `${name} ${mode}`);
}

/** Uses a data folder for what leaves files there: records, a document with its variants, a demo connection. */
async function use(data: string): Promise<void> {
  const service = await testService(bareRecords(), { data });
  const file = { content: PNG, fromX: 0, fromY: 0, width: 1, height: 1, ratio: 1 };
  const made = await service.call('POST', '/documents', { body: { name: 'scan', mimeType: 'PNG', file } });
  expect(made.status).toBe(201);
  const folder = { service: service.service, path: data, close: async () => {} };
  await writeDemoSettings(folder, 'http://127.0.0.1:1', 'y');
  expect((await readdir(data, { recursive: true })).length).toBeGreaterThan(5);
  expect(await openToOthers(data)).toEqual([]);
  await service.close();
  expect(await openToOthers(data)).toEqual([]);
}

describe('a data folder', () => {
  it('is made for its owner alone, and so is everything in it', async () => {
    const data = join(place, 'new', 'below');
    await use(data);
    expect(await modeOf(data)).toBe('700');
  });

  it('that was there, empty, is closed to others', async () => {
    const data = join(place, 'empty');
    await mkdir(data, { mode: 0o755 });
    await use(data);
    expect(await modeOf(data)).toBe('700');
  });

  it('that was opened to others is closed again', async () => {
    const data = join(place, 'reopened');
    await (await openFolder(data, { serving: false })).close();
    await chmod(data, 0o755);
    await (await openFolder(data, { serving: false })).close();
    expect(await modeOf(data)).toBe('700');
  });

  it('that holds what is not ours is left as it is: what we add is closed', async () => {
    const data = join(place, 'shared');
    await mkdir(data, { mode: 0o755 });
    await writeFile(join(data, 'notes.txt'), 'not ours', { mode: 0o644 });
    await (await openFolder(data, { serving: false })).close();
    expect(await modeOf(data)).toBe('755');
    expect(await openToOthers(data)).toEqual(['notes.txt 644']);
  });
});
