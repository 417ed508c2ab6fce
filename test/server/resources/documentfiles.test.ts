import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder } from '../../../src/server/datafolder.ts';
import { refusalOf, rowOf, sourcesOf, type WireRecord } from '../../support/calls.ts';
import { PDF, PNG } from '../../support/files.ts';
import { EXAMS, NOWHERE, ORGANIZATION, OTHER_ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { linksOf, post, posted } from './documentsof.ts';

const LIMIT = 10_000;
let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords(), { maxDocumentBytes: LIMIT });
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

  it.each<[string, WireRecord | string, number, string[]]>([
    ['no content', { file: {} }, 400, ['field.missing file.content']],
    ['no file', { file: null }, 400, ['field.missing file.content']],
    ['a file that is no object', { file: 'x' }, 400, ['field.type file']],
    ['empty content', { file: { content: '' } }, 400, ['field.length file.content']],
    ['blank content', { file: { content: ' \n' } }, 400, ['field.length file.content']],
    ['content that is no text', { file: { content: 5 } }, 400, ['field.type file.content']],
    ['content that is no base64', { file: { content: 'QUJD*' } }, 400, ['file.content file.content']],
    ['content without padding', { file: { content: 'QUI' } }, 400, ['file.content file.content']],
    ['content for URLs', { file: { content: 'a-_b' } }, 400, ['file.content file.content']],
    ['an unknown part of file', { file: { content: PDF, path: '/etc' } }, 400, ['body.unknown_property file.path']],
    ['an unsupported type', { mimeType: 'TIFF' }, 400, ['field.choice mimeType']],
    ['an image type with other bytes', { mimeType: 'PNG' }, 400, ['file.content file.content']],
    [
      'two owners',
      { ownerPatient: { id: PATIENTS.ann }, ownerPerioExam: { id: EXAMS.one } },
      400,
      ['field.conflict ownerPatient', 'field.conflict ownerPerioExam'],
    ],
    [
      'three owners',
      {
        ownerPatient: { id: PATIENTS.ann },
        ownerPerioExam: { id: EXAMS.one },
        ownerOrganization: { id: ORGANIZATION },
      },
      400,
      ['field.conflict ownerOrganization', 'field.conflict ownerPatient', 'field.conflict ownerPerioExam'],
    ],
    [
      'another organization for an owner',
      { ownerOrganization: { id: OTHER_ORGANIZATION } },
      400,
      ['field.conflict ownerOrganization.id'],
    ],
    ['an owner that is nowhere', { ownerPatient: { id: NOWHERE } }, 400, ['field.link_unknown ownerPatient.id']],
    ['a date that does not exist', { userDefinedDate: '2026-02-30' }, 400, ['field.format userDefinedDate']],
    [
      'more bytes than the limit',
      { file: { content: Buffer.alloc(LIMIT + 1).toString('base64') } },
      413,
      ['body.too_large file.content'],
    ],
    [
      'much more than the limit',
      { file: { content: Buffer.alloc(LIMIT * 30).toString('base64') } },
      413,
      ['body.too_large file.content'],
    ],
    ['too much beside the file', { tags: ['x'.repeat(1024 * 1024 + 1)] }, 413, ['body.too_large body']],
    ['JSON that ends too soon', `{"file":{"content":"${PDF}"},"name":"x"`, 400, ['body.not_json body']],
    [
      'content twice',
      `{"file":{"content":"${PDF}","content":"${PDF}"},"name":"x","mimeType":"PDF"}`,
      400,
      ['body.not_json file.content'],
    ],
  ])('are not left behind by a POST of %s', async (_name, wrong, status, errors) => {
    const called =
      typeof wrong === 'string'
        ? await service.call('POST', '/documents', { body: wrong })
        : await post(service, wrong);
    expect(refusalOf(called)).toEqual({ status, errors });
    expect(await filesOnDisk()).toEqual([]);
    expect(await service.service.files.leftovers()).toEqual([]);
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
