import { type ContentReader, readFully } from './source.ts';

/** First eight bytes of a compound file: old Office documents and Outlook messages. */
export const COMPOUND_SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

const END_OF_CHAIN = 0xff_ff_ff_fe;
const NO_ENTRY = 0xff_ff_ff_ff;
const ENTRY_SIZE = 128;
/** Header slots for sectors of the allocation table: enough for 6.8 MB with 512-byte sectors; more are chained. */
const HEADER_SLOTS = 109;
/** Directories of real documents have a few hundred entries; damaged ones may chain in circles. */
const MAX_DIRECTORY_SECTORS = 4096;

/** Names of the entries directly below the root of a compound file ([MS-CFB]); undefined when it is damaged. */
export async function rootEntryNames(reader: ContentReader): Promise<string[] | undefined> {
  const header = await readFully(reader, 0, 512);
  if (header.length < 512 || !header.subarray(0, 8).equals(COMPOUND_SIGNATURE)) return undefined;
  const shift = header.readUInt16LE(0x1e);
  if (shift !== 9 && shift !== 12) return undefined;
  const directory = await readDirectory({ reader, header, sectorSize: 2 ** shift, table: new Map() });
  return directory && namesBelowRoot(directory);
}

interface CompoundFile {
  readonly reader: ContentReader;
  readonly header: Buffer;
  readonly sectorSize: number;
  /** Sectors of the allocation table that were read, by their index in it. */
  readonly table: Map<number, Buffer>;
}

async function readDirectory(file: CompoundFile): Promise<Buffer | undefined> {
  const sectors: Buffer[] = [];
  let sector: number | undefined = file.header.readUInt32LE(0x30);
  while (sector !== undefined && sector < END_OF_CHAIN) {
    const bytes = await readSector(file, sector);
    if (bytes === undefined || sectors.length >= MAX_DIRECTORY_SECTORS) return undefined;
    sectors.push(bytes);
    sector = await nextSector(file, sector);
  }
  return sector === undefined ? undefined : Buffer.concat(sectors);
}

async function readSector(file: CompoundFile, sector: number): Promise<Buffer | undefined> {
  const bytes = await readFully(file.reader, (sector + 1) * file.sectorSize, file.sectorSize);
  return bytes.length === file.sectorSize ? bytes : undefined;
}

async function nextSector(file: CompoundFile, sector: number): Promise<number | undefined> {
  const perSector = file.sectorSize / 4;
  const index = Math.floor(sector / perSector);
  const part = file.table.get(index) ?? (await readTableSector(file, index));
  if (part === undefined) return undefined;
  file.table.set(index, part);
  return part.readUInt32LE((sector % perSector) * 4);
}

/** The sector that holds the given part of the allocation table: listed in the header, or in the chain after it. */
async function readTableSector(file: CompoundFile, index: number): Promise<Buffer | undefined> {
  if (index < HEADER_SLOTS) return readSector(file, file.header.readUInt32LE(0x4c + index * 4));
  const perList = file.sectorSize / 4 - 1;
  let hops = Math.floor((index - HEADER_SLOTS) / perList);
  let list = await readSector(file, file.header.readUInt32LE(0x44));
  while (list !== undefined && hops > 0) {
    list = await readSector(file, list.readUInt32LE(perList * 4));
    hops--;
  }
  return list && readSector(file, list.readUInt32LE(((index - HEADER_SLOTS) % perList) * 4));
}

/** Walks the root's tree of siblings; an entry outside the directory or met twice means damage. */
function namesBelowRoot(directory: Buffer): string[] | undefined {
  const names: string[] = [];
  const seen = new Set<number>();
  const open = [directory.length >= ENTRY_SIZE ? directory.readUInt32LE(0x4c) : NO_ENTRY];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    if (entry === NO_ENTRY) continue;
    const at = entry * ENTRY_SIZE;
    if (at + ENTRY_SIZE > directory.length || seen.has(entry)) return undefined;
    seen.add(entry);
    const length = Math.min(Math.max(directory.readUInt16LE(at + 0x40) - 2, 0), 62);
    names.push(directory.toString('utf16le', at, at + length));
    open.push(directory.readUInt32LE(at + 0x44), directory.readUInt32LE(at + 0x48));
  }
  return names;
}
