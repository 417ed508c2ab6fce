import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusalOf, type WireRecord } from '../../support/calls.ts';
import { PDF } from '../../support/files.ts';
import { EXAMS, NOWHERE, ORGANIZATION, OTHER_ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { sharedService } from '../../support/service.ts';
import { post } from './documentsof.ts';

const LIMIT = 10_000;
const service = sharedService(bareRecords, { maxDocumentBytes: LIMIT });

/** Every file below the folder of files, sorted. */
async function filesOnDisk(): Promise<string[]> {
  const entries = await readdir(join(service.path, 'files'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

describe('a refused document (specification, Errors)', () => {
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
      'content with a bare line break',
      `{"file":{"content":"QUJD\nQUJD"},"name":"x","mimeType":"PDF"}`,
      400,
      ['body.not_json body'],
    ],
    [
      'content twice',
      `{"file":{"content":"${PDF}","content":"${PDF}"},"name":"x","mimeType":"PDF"}`,
      400,
      ['body.not_json file.content'],
    ],
  ])('leaves no file behind: %s', async (_name, wrong, status, errors) => {
    const called =
      typeof wrong === 'string'
        ? await service.call('POST', '/documents', { body: wrong })
        : await post(service, wrong);
    expect(refusalOf(called)).toEqual({ status, errors });
    expect(await filesOnDisk()).toEqual([]);
    expect(await service.service.files.leftovers()).toEqual([]);
  });
});
