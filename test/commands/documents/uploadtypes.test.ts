import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import DocumentsUpload from '../../../src/commands/documents/upload.ts';
import { SAMPLES, zipFile } from '../../core/documents/samples.ts';
import { PATIENTS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { runCommand, sendTo } from './run.ts';

const service = sharedService();
let folder: string;
let images: Record<string, Buffer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
  const image = sharp({ create: { width: 8, height: 6, channels: 3, background: '#456' } });
  images = {
    JPEG: await image.clone().jpeg().toBuffer(),
    PNG: await image.clone().png().toBuffer(),
    GIF: await image.clone().gif().toBuffer(),
    WEBP: await image.clone().webp().toBuffer(),
    TIFF: await image.clone().tiff().toBuffer(),
  };
});
afterAll(() => rm(folder, { recursive: true }));

let runs = 0;

async function upload(name: string, content: Uint8Array, more: readonly string[] = []) {
  const path = join(folder, name);
  await writeFile(path, content);
  const results = join(folder, `${runs++}.csv`);
  const line = [path, '--patient', String(PATIENTS.cleo), '--results', results, '--json', ...more];
  return runCommand(DocumentsUpload, line, { send: sendTo(() => service.app) });
}

const contentOf = (type: string) => images[type] ?? SAMPLES[type as keyof typeof SAMPLES];

/** Type, extension and what the server calls the file: every type and every alias of the specification. */
const TYPES: readonly (readonly [string, string, string])[] = [
  ['PDF', 'pdf', 'pdf'],
  ['JPEG', 'jpeg', 'jpeg'],
  ['JPEG', 'jpg', 'jpeg'],
  ['JPEG', 'jpe', 'jpeg'],
  ['JPEG', 'jif', 'jpeg'],
  ['JPEG', 'jfif', 'jpeg'],
  ['JPEG', 'jfi', 'jpeg'],
  ['PNG', 'png', 'png'],
  ['GIF', 'gif', 'gif'],
  ['DOC', 'doc', 'doc'],
  ['DOCX', 'docx', 'docx'],
  ['PPT', 'ppt', 'ppt'],
  ['PPTX', 'pptx', 'pptx'],
  ['XLS', 'xls', 'xls'],
  ['XLSX', 'xlsx', 'xlsx'],
  ['MSG', 'msg', 'msg'],
];

describe('every supported type', () => {
  it.each(TYPES)('%s as .%s is stored as .%s', async (type, extension, stored) => {
    const ran = await upload(`by its name ${extension}.${extension.toUpperCase()}`, contentOf(type));
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    const document = JSON.parse(ran.stdout.toString());
    expect(document).toMatchObject({ name: `by its name ${extension}.${stored}`, mimeType: type });
    const content = await service.call('GET', document.storage.original);
    expect(content.bytes.equals(Buffer.from(contentOf(type)))).toBe(true);
  });

  it.each(TYPES)('%s is stored when --mime-type says %s', async (type, alias) => {
    const ran = await upload(`declared ${alias}`, contentOf(type), ['--mime-type', alias]);
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    expect(JSON.parse(ran.stdout.toString())).toMatchObject({ mimeType: type });
  });
});

describe('any other type', () => {
  it.each<[string, () => Uint8Array]>([
    ['scan.tiff', () => images.TIFF!],
    ['photo.webp', () => images.WEBP!],
    ['notes.txt', () => Buffer.from('only text\n')],
    ['page.html', () => Buffer.from('<!doctype html><p>text')],
    ['table.csv', () => Buffer.from('a,b\n1,2\n')],
    ['archive.zip', () => zipFile({ 'a.txt': 'text' })],
    ['program.exe', () => Buffer.from('4d5a900003000000', 'hex')],
    ['image.dcm', () => Buffer.concat([Buffer.alloc(128), Buffer.from('DICM')])],
    ['drawing.svg', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['no extension', () => Buffer.from('only text\n')],
    ['webp called jpeg.jpg', () => images.WEBP!],
    ['tiff called pdf.pdf', () => images.TIFF!],
    ['png called jpeg.jpg', () => images.PNG!],
    ['zip called docx.docx', () => zipFile({ 'a.txt': 'text' })],
  ])('%s is refused before anything is sent', async (name, content) => {
    const path = join(folder, name);
    await writeFile(path, content());
    const send = () => Promise.reject(new Error('something was sent'));
    const line = [path, '--results', join(folder, `${runs++}.csv`), '--json'];
    const ran = await runCommand(DocumentsUpload, line, { send });
    expect([ran.exitCode, ran.stdout.length]).toEqual([2, 0]);
    const { error } = JSON.parse(ran.stderr);
    expect(error.message).toMatch(/Supported: PDF, JPEG|Rename it, or declare it as PNG/);
  });
});
