import { describe, expect, it } from 'vitest';
import { readFileType } from '../../../../src/core/documents/content/filetype.ts';
import { compoundFile, memorySource, officeFile, SAMPLES } from '../samples.ts';

const TYPES = Object.keys(SAMPLES) as (keyof typeof SAMPLES)[];
const ALL =
  'Supported: PDF, JPEG, PNG, GIF, DOC, DOCX, PPT, PPTX, XLS, XLSX, MSG (JPEG also as JPG, JPE, JIF, JFIF, JFI).';
const text = Buffer.from('only some text\n');
const flag = (type: string) => ({ type, by: '--mime-type' });

function typeOf(name: string, bytes: Uint8Array, declared?: string) {
  return readFileType(memorySource(name, bytes), declared === undefined ? undefined : flag(declared));
}

describe('the type of a file', () => {
  it.each(TYPES)('%s comes from its content, whatever the name', async (type) => {
    for (const name of ['scan', 'scan.dat', `scan.${type}`, `scan.${type.toLowerCase()}`, 'folder.pdf/scan']) {
      expect(await typeOf(name, SAMPLES[type]), name).toEqual({ type });
    }
  });

  it.each(['jpg', 'JPEG', 'jpe', 'Jif', 'jfif', 'JFI'])('JPEG may be called .%s and declared so', async (alias) => {
    expect(await typeOf(`photo.${alias}`, SAMPLES.JPEG)).toEqual({ type: 'JPEG' });
    expect(await typeOf('photo', SAMPLES.JPEG, alias)).toEqual({ type: 'JPEG' });
  });

  it.each([
    ['a GIF of 1987', 'a.gif', Buffer.from('GIF87a'), 'GIF'],
    ['PDF after bytes of a scanner', 'a.pdf', Buffer.concat([Buffer.alloc(700, 1), SAMPLES.PDF]), 'PDF'],
    ['an old workbook', 'a.xls', compoundFile(['Book']), 'XLS'],
    ['names in any letter case', 'a', compoundFile(['WORDDOCUMENT']), 'DOC'],
    ['a Word document with a workbook inside', 'a', compoundFile(['ObjectPool', 'WordDocument'], 'Workbook'), 'DOC'],
    ['a directory of several sectors', 'a', compoundFile(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'Workbook']), 'XLS'],
    ['an unknown directory, by its extension', 'a.ppt', compoundFile(['Something']), 'PPT'],
    ['a damaged directory, by its extension', 'a.msg', compoundFile(['WordDocument']).subarray(0, 600), 'MSG'],
    [
      'Office with a password, by its extension',
      'a.xlsx',
      compoundFile(['EncryptionInfo', 'EncryptedPackage']),
      'XLSX',
    ],
    ['Office with a large picture first', 'a', officeFile('docx', 3_000_000), 'DOCX'],
  ] as const)('%s', async (_, name, bytes, type) => {
    expect(await typeOf(name, bytes)).toEqual({ type });
  });

  it.each([
    ['a.pdf', 'PDF'],
    ['a.doc', 'DOC'],
    ['a.docx', 'DOCX'],
    ['a.MSG', 'MSG'],
  ])('comes from the extension of %s when the content shows none, and says so', async (name, type) => {
    expect(await typeOf(name, text)).toEqual({
      type,
      note: `${name}: its content shows no type; taken as ${type} because its extension says so.`,
    });
  });

  it('comes from --mime-type when neither shows it', async () => {
    expect(await typeOf('scan', text, 'pdf')).toEqual({
      type: 'PDF',
      note: 'scan: its content shows no type; taken as PDF because --mime-type says so.',
    });
  });

  it('is what was declared when the content agrees, whatever the extension', async () => {
    expect(await typeOf('photo.pdf', SAMPLES.PNG, 'png')).toEqual({ type: 'PNG' });
    expect(await typeOf('letter', compoundFile(['Something']), 'doc')).toEqual({ type: 'DOC' });
  });

  it.each([
    [
      'extension',
      'photo.pdf',
      SAMPLES.JPEG,
      undefined,
      'photo.pdf: its content is JPEG but its extension says PDF. Rename it, or declare it as JPEG.',
    ],
    ['flag', 'photo', SAMPLES.JPEG, 'PDF', 'photo: its content is JPEG but --mime-type says PDF. Correct --mime-type.'],
    [
      'old and new Office',
      'a.docx',
      SAMPLES.DOC,
      undefined,
      'a.docx: its content is DOC but its extension says DOCX. Rename it, or declare it as DOC.',
    ],
    [
      'flag, extension right',
      'a.pdf',
      SAMPLES.PDF,
      'GIF',
      'a.pdf: its content is PDF but --mime-type says GIF. Correct --mime-type.',
    ],
    [
      'no extension to choose by',
      'a',
      compoundFile(['Something']),
      undefined,
      'a: its content may be DOC or XLS or PPT or MSG. Declare which, or give it the extension.',
    ],
    [
      'Office with a password',
      'a.pdf',
      compoundFile(['EncryptedPackage']),
      undefined,
      'a.pdf: its content is DOCX or XLSX or PPTX but its extension says PDF. Rename it, or declare it as DOCX.',
    ],
    [
      'text called JPEG',
      'a.jpg',
      text,
      undefined,
      'a.jpg: its extension says JPEG but its content is not a JPEG image.',
    ],
    ['text called PNG', 'a', text, 'PNG', 'a: --mime-type says PNG but its content is not a PNG image.'],
    ['unknown flag', 'a.pdf', SAMPLES.PDF, 'TIFF', `--mime-type TIFF is not a document type. ${ALL}`],
    [
      'text',
      'notes.txt',
      text,
      undefined,
      `notes.txt: neither its content nor its extension shows a supported type. ${ALL}`,
    ],
    [
      'macros',
      'a.docm',
      officeFile('docm'),
      undefined,
      `a.docm: its content is DOCM (application/vnd.ms-word.document.macroenabled.12). ${ALL}`,
    ],
    [
      'TIFF called PDF',
      'a.pdf',
      Buffer.from('49492a0008000000000000000000', 'hex'),
      undefined,
      `a.pdf: its content is TIF (image/tiff) although its extension says PDF. ${ALL}`,
    ],
  ] as const)('is refused with both sides named: %s', async (_, name, bytes, declared, message) => {
    await expect(typeOf(name, bytes, declared)).rejects.toMatchObject({ message, exitCode: 2 });
  });

  it('is never guessed from a broken compound file that chains in circles', async () => {
    const bytes = compoundFile(['WordDocument']);
    bytes.writeUInt32LE(1, 512 + 4);
    await expect(typeOf('a', bytes)).rejects.toMatchObject({ exitCode: 2 });
  });
});
