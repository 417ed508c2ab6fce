import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openFolder } from '../../src/server/datafolder.ts';
import { rowsOf } from '../support/calls.ts';
import { bareRecords } from '../support/practice.ts';
import { testService } from '../support/service.ts';
import { posted } from './resources/documentsof.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'molar-datafolder-'));
});
afterEach(() => rm(data, { recursive: true }));

it('lets go of the database when files cannot be opened', async () => {
  const files = join(data, 'files');
  await writeFile(files, '');
  await expect(openFolder(data, { serving: true })).rejects.toMatchObject({
    name: 'StoreUnusable',
    message: expect.stringContaining(`The folder ${files} cannot be used for files`),
  });
  await rm(files);
  const folder = await openFolder(data, { serving: true });
  await folder.close();
});

it('serves no documents of which not a single file is there, and serves them when they are back', async () => {
  const service = await testService(bareRecords(), { data });
  await posted(service);
  await service.close();
  const files = join(data, 'files');
  await expect(openFolder(data, { serving: true, files: join(data, 'mistyped') })).rejects.toMatchObject({
    name: 'StoreUnusable',
    message: 'The database has documents, and none of their files is there.',
    next: expect.stringContaining('--files'),
  });
  const looked = await openFolder(data, { serving: false, files: join(data, 'mistyped') });
  await looked.close();
  const back = await openFolder(data, { serving: true, files });
  await back.close();
  const again = await testService([], { data });
  expect(rowsOf(await again.call('GET', '/documents'))).toHaveLength(1);
  await again.close();
});
