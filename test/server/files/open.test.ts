import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFiles } from '../../../src/server/files/open.ts';
import { refusalOf } from './s3/openedbuckets.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'molar-files-'));
});
afterEach(() => rm(data, { recursive: true }));

describe('folders', () => {
  it('are those of the data folder when none is given', async () => {
    const files = await openFiles(undefined, data);
    const { path } = await (await files.stage('00aa-original')).finish();
    expect(path).toBe(join(data, 'files', 'incoming', '00aa-original'));
    await files.close();
  });

  it('are made for their owner alone', async () => {
    const files = await openFiles(join(data, 'elsewhere', 'files'), data);
    const { path } = await (await files.stage('00aa-original')).finish();
    await files.finalize('00aa-original');
    const modes = ['', 'incoming', '00', '00/00aa-original'].map(async (name) => {
      const { mode } = await stat(join(data, 'elsewhere', 'files', name));
      return (mode & 0o777).toString(8);
    });
    expect(await Promise.all(modes)).toEqual(['700', '700', '700', '600']);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    await files.close();
  });

  it('that cannot be made are refused', async () => {
    await writeFile(join(data, 'file'), '');
    const { message, next } = await refusalOf(join(data, 'file', 'files'), data);
    expect(message).toMatch(/^The folder .*files cannot be used for files: ENOTDIR/);
    expect(next).toBe('Give a folder you may write to with --files.');
  });
});

const WRITE = 'Give --files a folder, or s3://bucket/prefix.';

describe('other places', () => {
  it.each([
    ['', '--files is empty.', WRITE],
    ['gs://bucket/prefix', 'gs:// cannot be used for files.', WRITE],
    ['https://user:secret@host/bucket', 'https:// cannot be used for files.', WRITE],
  ])('%s is refused', async (target, message, next) => {
    expect(await refusalOf(target, data)).toEqual({ message, next });
  });
});
