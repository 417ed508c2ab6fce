import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFolder } from '../../../src/server/datafolder.ts';
import { rowOf, sourcesOf, type WireRecord } from '../../support/calls.ts';
import { PDF, PNG } from '../../support/files.ts';
import { EXAMS, NOWHERE, ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { linksOf, post, posted } from './documentsof.ts';

const LIMIT = 10_000;
let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords(), { maxDocumentBytes: LIMIT, fileRetentionDays: 0 });
});
afterEach(() => service.close());

/** Every file below the folder of files, sorted. */
async function filesOnDisk(): Promise<string[]> {
  const entries = await readdir(join(service.path, 'files'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

const cropped = { content: PNG, fromX: 0, fromY: 0, width: 1, height: 1, ratio: 1 };

describe('the files of a document', () => {
  it('are on disk while it is, all variants of it', async () => {
    const paper = await posted(service);
    const image = await posted(service, { mimeType: 'PNG', file: cropped });
    const variants = ['cropped', 'original', 'resized', 'thumbnail'].map((variant) => `${image.guidName}-${variant}`);
    expect(await filesOnDisk()).toEqual([`${paper.guidName}-original`, ...variants].sort());
    expect(image.thumbNailId).toBe(`${image.guidName}-thumbnail`);
    await service.call('DELETE', `/documents/${image.id}`);
    expect(await filesOnDisk()).toEqual([`${paper.guidName}-original`]);
    await service.call('DELETE', `/documents/${paper.id}`);
    expect(await filesOnDisk()).toEqual([]);
  });

  it('stay when a commit succeeds but its confirmation is lost', async () => {
    const { store } = service.service;
    const write = store.write.bind(store);
    vi.spyOn(store, 'write').mockImplementation(async (work, org) => {
      const value = await write(work, org);
      if (org !== undefined) throw new Error('The connection was lost.');
      return value;
    });
    await expect(post(service)).rejects.toThrow('The connection was lost.');
    vi.restoreAllMocks();
    const [document] = (await service.call('GET', '/documents')).body.data as WireRecord[];
    const { original = '' } = linksOf(document as WireRecord);
    const called = await service.call('GET', original, { token: null, organization: null });
    expect([called.status, called.bytes.toString('base64')]).toEqual([200, PDF]);
  });

  it('hold exactly the bytes sent, whatever they are', async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256));
    const lines = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
    for (const content of [bytes.toString('base64'), lines]) {
      const document = await posted(service, { mimeType: 'MSG', file: { content } });
      const called = await service.call('GET', linksOf(document).original ?? '', { token: null, organization: null });
      expect(called.bytes).toEqual(bytes);
    }
  });

  it('may come with escapes in the JSON', async () => {
    const escaped = [...PDF].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const body = `{"file":{"\\u0063ontent":"${escaped}"},"name":"x","mimeType":"PDF"}`;
    const document = rowOf(await service.call('POST', '/documents', { body }));
    const called = await service.call('GET', linksOf(document).original ?? '', { token: null, organization: null });
    expect(called.bytes.toString('base64')).toBe(PDF);
  });

  it('may have exactly as many bytes as the limit', async () => {
    expect((await post(service, { file: { content: Buffer.alloc(LIMIT).toString('base64') } })).status).toBe(201);
  });

  it('are judged together with everything else that is wrong', async () => {
    const called = await post(service, {
      name: 'x'.repeat(71),
      mimeType: 'TIFF',
      file: { content: '!' },
      tags: [''],
      ownerPatient: { id: NOWHERE },
      nosuch: 1,
      userDefinedDate: 'x',
    });
    expect(new Set(sourcesOf(called))).toEqual(
      new Set(['name', 'mimeType', 'file.content', 'tags[0]', 'ownerPatient.id', 'nosuch', 'userDefinedDate']),
    );
  });

  it('are owned by whom the body says, else by the organization', async () => {
    const owners = ['ownerType', 'ownerOrganization', 'ownerPatient', 'ownerPerioExam'] as const;
    const ownerOf = async (body: WireRecord) => {
      const row = await posted(service, body);
      return owners.map((name) => row[name]);
    };
    const mine = ['Organization', { id: ORGANIZATION }, null, null];
    expect(await ownerOf({})).toEqual(mine);
    expect(await ownerOf({ ownerOrganization: { id: ORGANIZATION } })).toEqual(mine);
    expect(await ownerOf({ ownerPatient: { id: String(PATIENTS.ann) }, ownerPerioExam: null })).toEqual([
      'Patient',
      null,
      { id: PATIENTS.ann },
      null,
    ]);
    expect(await ownerOf({ ownerPerioExam: { id: EXAMS.two } })).toEqual(['PerioExam', null, null, { id: EXAMS.two }]);
  });
});

describe('permissions', () => {
  it('of everything kept are for the owner alone', async () => {
    await posted(service, { mimeType: 'PNG', file: cropped });
    const entries = await readdir(service.path, { recursive: true, withFileTypes: true });
    const modes = await Promise.all(
      entries.map(async (entry) => {
        const { mode } = await stat(join(entry.parentPath, entry.name));
        return `${entry.isFile() ? 'file' : 'folder'} ${(mode & 0o777).toString(8)}`;
      }),
    );
    expect(new Set(modes)).toEqual(new Set(['file 600', 'folder 700']));
    expect((await stat(service.path)).mode & 0o777).toBe(0o700);
  });

  it('of a folder that was there before are left, those of the files in it are not', async () => {
    const data = join(service.path, 'made', 'deep');
    const opened = await openFolder(data, { serving: true });
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    expect((await stat(join(data, 'molar.sqlite'))).mode & 0o777).toBe(0o600);
    await opened.close();
  });
});
