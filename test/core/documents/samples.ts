import { crc32, deflateRawSync } from 'node:zlib';
import type { ContentReader, ContentSource } from '../../../src/core/documents/content/source.ts';

/** Content in memory whose reads are as short as `most` says. */
export function memorySource(
  label: string,
  bytes: Uint8Array,
  most: () => number = () => Number.POSITIVE_INFINITY,
): ContentSource {
  const read: ContentReader['read'] = async (buffer, position) => {
    const part = bytes.subarray(position, position + Math.min(buffer.length, Math.max(1, most())));
    buffer.set(part);
    return part.length;
  };
  return { label, size: bytes.length, open: async () => ({ read, close: async () => undefined }) };
}

const SECTOR = 512;
const END = 0xff_ff_ff_fe;
const NONE = 0xff_ff_ff_ff;

/**
 * A compound file ([MS-CFB]) with the given entries below its root, written by hand: header, one table sector, then the
 * directory. `inner`: an entry below the first one, as an embedded object has.
 */
export function compoundFile(names: readonly string[], inner?: string): Buffer {
  const entries = ['Root Entry', ...names, ...(inner === undefined ? [] : [inner])];
  const sectors = Math.ceil((entries.length * 128) / SECTOR);
  const header = Buffer.alloc(SECTOR);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.writeUInt16LE(0x3e, 0x18);
  header.writeUInt16LE(3, 0x1a);
  header.writeUInt16LE(0xfffe, 0x1c);
  header.writeUInt16LE(9, 0x1e);
  header.writeUInt16LE(6, 0x20);
  header.writeUInt32LE(1, 0x2c);
  header.writeUInt32LE(1, 0x30);
  header.writeUInt32LE(4096, 0x38);
  header.writeUInt32LE(END, 0x3c);
  header.writeUInt32LE(END, 0x44);
  header.fill(0xff, 0x4c);
  header.writeUInt32LE(0, 0x4c);
  const table = Buffer.alloc(SECTOR, 0xff);
  table.writeUInt32LE(0xff_ff_ff_fd, 0);
  for (let sector = 1; sector <= sectors; sector++)
    table.writeUInt32LE(sector === sectors ? END : sector + 1, sector * 4);
  const directory = Buffer.alloc(sectors * SECTOR);
  entries.forEach((name, index) => {
    const at = index * 128;
    const isInner = inner !== undefined && index === entries.length - 1;
    directory.write(name, at, 'utf16le');
    directory.writeUInt16LE((name.length + 1) * 2, at + 0x40);
    directory.writeUInt8(index === 0 ? 5 : 2, at + 0x42);
    directory.writeUInt32LE(NONE, at + 0x44);
    const next = index > 0 && index < names.length && !isInner ? index + 1 : NONE;
    directory.writeUInt32LE(next, at + 0x48);
    const child = index === 0 && names.length > 0 ? 1 : index === 1 && inner !== undefined ? entries.length - 1 : NONE;
    directory.writeUInt32LE(child, at + 0x4c);
  });
  return Buffer.concat([header, table, directory]);
}

/** A ZIP archive with the given members, compressed. */
export function zipFile(members: Readonly<Record<string, string | Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(members)) {
    const data = Buffer.from(text as string);
    const packed = deflateRawSync(data);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(data.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(locals.length, 8);
  end.writeUInt16LE(locals.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const OOXML = 'application/vnd.openxmlformats-officedocument';

/** An Office file of today; `picture` bytes of media come before the part that tells its kind. */
export function officeFile(kind: 'docx' | 'xlsx' | 'pptx' | 'docm', picture = 0): Buffer {
  const part = {
    docx: ['/word/document.xml', `${OOXML}.wordprocessingml.document.main+xml`],
    xlsx: ['/xl/workbook.xml', `${OOXML}.spreadsheetml.sheet.main+xml`],
    pptx: ['/ppt/presentation.xml', `${OOXML}.presentationml.presentation.main+xml`],
    docm: ['/word/document.xml', 'application/vnd.ms-word.document.macroEnabled.main+xml'],
  }[kind];
  const noise = Buffer.from(Array.from({ length: picture }, (_, index) => (index * 2_654_435_761) >>> 24));
  return zipFile({
    '_rels/.rels': '<Relationships/>',
    ...(picture > 0 && { 'word/media/image1.bin': noise }),
    [part[0]!.slice(1)]: '<document/>',
    '[Content_Types].xml': `<Types><Override PartName="${part[0]}" ContentType="${part[1]}"/></Types>`,
  });
}

/** The smallest beginnings that programs know each type by. */
export const SAMPLES = {
  PDF: Buffer.from('%PDF-1.7\n%synthetic\n'),
  JPEG: Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
  PNG: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  GIF: Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'),
  DOC: compoundFile(['\u0001CompObj', 'WordDocument', '1Table']),
  XLS: compoundFile(['Workbook', '\u0005SummaryInformation']),
  PPT: compoundFile(['Current User', 'PowerPoint Document']),
  MSG: compoundFile(['__nameid_version1.0', '__properties_version1.0']),
  DOCX: officeFile('docx'),
  XLSX: officeFile('xlsx'),
  PPTX: officeFile('pptx'),
} as const;
