import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import DocumentsDownload from '../../../src/commands/documents/download.ts';
import { PATIENTS } from '../../support/ids.ts';
import { sharedService } from '../../support/service.ts';
import { type Ran, runCommand, sendTo } from './run.ts';

const service = sharedService();
const PDF = Buffer.from('%PDF-1.7\nsynthetic\u0000\u00ff\n', 'latin1');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

function download(argv: readonly (string | number)[], isTTY = false): Promise<Ran> {
  return runCommand(DocumentsDownload, argv.map(String), { send: sendTo(() => service.app), isTTY });
}

async function store(name: string, content = PDF): Promise<number> {
  const body = {
    name,
    mimeType: 'PDF',
    ownerPatient: { id: PATIENTS.ann },
    file: { content: content.toString('base64') },
  };
  return ((await service.call('POST', '/documents', { body })).body.data as { id: number }).id;
}

describe('documents download', () => {
  it('writes files byte for byte and shows where they are', async () => {
    const [one, two] = [await store('one'), await store('two', Buffer.alloc(200_000, 7))];
    const several = await download([
      one,
      two,
      one,
      '--dir',
      join(folder, 'scans'),
      '--csv',
      '--fields',
      'id,name,bytes',
    ]);
    expect([several.exitCode, several.stderr]).toEqual([0, '']);
    expect(several.stdout.toString()).toBe(`id,name,bytes\n${one},one.pdf,${PDF.length}\n${two},two.pdf,200000\n`);
    expect(await readFile(join(folder, 'scans', 'one.pdf'))).toEqual(PDF);
    const single = await download([one, '--out', join(folder, 'mine'), '--json']);
    expect(JSON.parse(single.stdout.toString())).toMatchObject({
      id: String(one),
      file: join(folder, 'mine'),
      bytes: PDF.length,
    });
    expect(await readFile(join(folder, 'mine'))).toEqual(PDF);
  });

  it('prints the bytes themselves with --out -', async () => {
    const ran = await download([await store('stream'), '--out', '-']);
    expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, PDF, '']);
  });

  it('keeps what exists unless told otherwise', async () => {
    const id = await store('kept');
    await writeFile(join(folder, 'mine'), 'mine');
    const kept = await download([id, '--out', join(folder, 'mine')]);
    expect([kept.exitCode, kept.stdout.toString()]).toEqual([9, '']);
    expect(kept.stderr).toContain('exists already.');
    expect(await readFile(join(folder, 'mine'), 'utf8')).toBe('mine');
    expect((await download([id, '--out', join(folder, 'mine'), '--force'])).exitCode).toBe(0);
    expect(await readFile(join(folder, 'mine'))).toEqual(PDF);
  });

  it.each<[string, readonly string[], number, string]>([
    ['no id', [], 2, 'ID is missing.'],
    ['an id that is none', ['abc'], 2, 'ID must be a positive integer.'],
    ['a file for two', ['ID', '2', '--out', 'F'], 2, '--out takes one document; use --dir for several.'],
    ['a file and a folder', ['ID', '--out', 'F', '--dir', 'F'], 2, 'Give --out or --dir, not both.'],
    ['bytes in another format', ['ID', '--out', '-', '--csv'], 2, '--out - prints the file itself'],
    ['two variants', ['ID', '--thumbnail', '--variant', 'cropped'], 2, 'contradict each other'],
    ['a document that is not there', ['2'], 4, 'There is no document 2'],
    ['documents that are not there', ['2', '3'], 4, '2 of 2 documents not downloaded.'],
    ['one of two that is not there', ['ID', '2', '--dir', 'F'], 6, '1 of 2 documents not downloaded.'],
    ['a thumbnail of a PDF', ['ID', '--thumbnail', '--out', 'F'], 4, 'has no thumbnail, only: original.'],
  ])('%s: exit code', async (_, argv, exitCode, message) => {
    const words: Record<string, string> = { ID: String(await store('table')), F: join(folder, 'F') };
    const ran = await download(argv.map((word) => words[word] ?? word));
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(message);
    if (exitCode !== 6) expect([ran.stdout.toString(), await readdir(folder)]).toEqual(['', []]);
  });

  it('does not print bytes on a terminal', async () => {
    expect((await download([await store('tty'), '--out', '-'], true)).exitCode).toBe(2);
  });
});
