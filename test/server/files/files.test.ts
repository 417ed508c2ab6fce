import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFiles } from '../../../src/server/files/open.ts';
import { contentOf, NAME, staged, store, testStoredFiles } from './storedfiles.ts';

testStoredFiles('a disk', (folder, _data, shared) => openFiles(join(folder, 'files'), folder, { shared }));

describe('files on a disk', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'molar-files-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('that are removed while they are listed are left out', async () => {
    const files = await openFiles(join(folder, 'files'), folder);
    const names = Array.from({ length: 6 }, (_, index) => `00aa${index}-original`);
    for (const name of names) await store(files, name, Buffer.from('x'));
    const found: string[] = [];
    for await (const { name } of files.list()) {
      if (found.push(name) === 1) for (const other of names) if (other !== name) await files.remove(other);
    }
    expect(found).toHaveLength(1);
    await files.close();
  });

  it('that fails are not secured for anybody who waits, and are again when it is back', async () => {
    const files = await openFiles(join(folder, 'files'), folder);
    await staged(files, NAME, Buffer.from('x'));
    const incoming = join(folder, 'files', 'incoming');
    await rename(incoming, `${incoming}.away`);
    const failed = await Promise.allSettled([files.persist([NAME]), files.persist([NAME])]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await rename(`${incoming}.away`, incoming);
    await files.persist([NAME]);
    expect(await contentOf(files, NAME)).toBe('x');
    await files.close();
  });
});
