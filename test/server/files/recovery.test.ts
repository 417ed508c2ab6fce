import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Files } from '../../../src/server/files/files.ts';
import { rowsOf } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { linksOf, post, posted } from '../resources/documentsof.ts';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'molar-recovery-'));
});
afterEach(() => rm(data, { recursive: true }));

const open = (): Promise<TestService> => testService(bareRecords(), { data, fileRetentionDays: 0 });

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

/** Makes one step of the files fail, as on a full disk; what is left is also what a process leaves that ends there. */
function failAt(service: TestService, step: 'finalize' | 'remove'): void {
  (service.service.files as { -readonly [K in keyof Files]: Files[K] })[step] = async () => {
    throw Object.assign(new Error('No space left.'), { code: 'ENOSPC' });
  };
}

async function downloaded(service: TestService): Promise<string[]> {
  const documents = rowsOf(await service.call('GET', '/documents'));
  const calls = documents.map((document) =>
    service.call('GET', linksOf(document).original ?? '', { token: null, organization: null }),
  );
  return (await Promise.all(calls)).map((called) => called.bytes.toString('base64'));
}

describe('after a process that ended', () => {
  it('between commit and keeping the file, the document is answered and has its file', async () => {
    const first = await open();
    failAt(first, 'finalize');
    expect(await post(first)).toMatchObject({ status: 201 });
    expect(await downloaded(first)).toEqual([PDF]);
    await first.close();
    const second = await open();
    expect(await downloaded(second)).toEqual([PDF]);
    expect(await filesIn(join(data, 'files', 'incoming'))).toEqual([]);
    await second.close();
  });

  it('in the middle of an image, nothing is left, and what still works on it cannot write any more', async () => {
    await (await open()).close();
    const making = join(data, 'files', 'incoming', '3f1c-original-made');
    await mkdir(making);
    await writeFile(join(making, 'image'), 'half of it');
    await (await open()).close();
    await expect(writeFile(join(making, 'image'), 'the rest')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('at any moment, no record has a file that a power cut would take', async () => {
    const service = await open();
    const { store, files } = service.service;
    const [{ write }, { persist }] = [store, files];
    const steps: string[] = [];
    store.write = (...work) => {
      steps.push('record');
      return write(...work);
    };
    (files as { -readonly [K in keyof Files]: Files[K] }).persist = async (names) => {
      await persist(names);
      // A disk takes its time.
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('file');
    };
    expect(await post(service)).toMatchObject({ status: 201 });
    expect(steps).toEqual(['file', 'record']);
    await service.close();
  });

  it('after a commit that nobody was told of, the document has its file', async () => {
    const service = await open();
    const { store } = service.service;
    const { write } = store;
    store.write = async (...work) => {
      store.write = write;
      await store.write(...work);
      throw new Error('The database went away.');
    };
    await expect(post(service)).rejects.toThrow('The database went away.');
    expect(await downloaded(service)).toEqual([PDF]);
    expect(await filesIn(join(data, 'files', 'incoming'))).toEqual([]);
    await service.close();
  });

  it('when a write fails that stored nothing, the file is gone', async () => {
    const service = await open();
    service.service.store.write = async () => {
      throw new Error('The database went away.');
    };
    await expect(post(service)).rejects.toThrow('The database went away.');
    expect(await filesIn(join(data, 'files'))).toEqual([]);
    await service.close();
  });

  it('before the commit, the file is gone', async () => {
    const first = await open();
    const stage = await first.service.files.stage('0123abcd-original');
    await stage.write(Buffer.from('half'));
    await writeFile(join(data, 'files', 'incoming', 'fedc9876-thumbnail'), 'x');
    await first.close();
    const second = await open();
    expect(await filesIn(join(data, 'files'))).toEqual([]);
    await second.close();
  });

  it('between the commit of a DELETE and the removal, it is answered and the file goes', async () => {
    const first = await open();
    await posted(first);
    await posted(first, { name: 'stays' });
    failAt(first, 'remove');
    expect(await first.call('DELETE', '/documents/1')).toMatchObject({ status: 200 });
    await first.close();
    expect(await filesIn(join(data, 'files'))).toHaveLength(2);
    const second = await open();
    expect(await filesIn(join(data, 'files'))).toHaveLength(1);
    expect(await downloaded(second)).toEqual([PDF]);
    expect(await second.service.store.read.all(sql`SELECT * FROM file_removals`)).toEqual([]);
    await second.close();
  });

  it('the file of a document that is still staged can be read', async () => {
    const service = await open();
    const { files } = service.service;
    const stage = await files.stage('0123abcd-original');
    await stage.write(Buffer.from('abc'));
    const staged = await stage.finish();
    expect(staged).toMatchObject({ name: '0123abcd-original', size: 3, head: Buffer.from('abc') });
    // SHA-256 of "abc", from FIPS 180.
    expect(staged.sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(await files.size('0123abcd-original')).toBe(3);
    await files.finalize('0123abcd-original');
    expect([await files.size('0123abcd-original'), await files.leftovers()]).toEqual([3, []]);
    await files.remove('0123abcd-original');
    expect(await files.size('0123abcd-original')).toBeUndefined();
    await files.remove('0123abcd-original');
    await service.close();
  });
});
