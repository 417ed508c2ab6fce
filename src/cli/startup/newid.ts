import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

/** Where the system gives random bytes away without node:crypto, which takes 7 ms to load. */
const SYSTEM = '/dev/urandom';

/** Bytes of an id, and of as many as are asked for at once. */
const ID = 16;
const MANY = 64 * ID;

let left: Buffer = Buffer.alloc(0);

/** A random UUID (version 4). */
export function newId(): string {
  if (left.length < ID) left = systemBytes() ?? left;
  if (left.length < ID) return randomUUID();
  const bytes = left.subarray(0, ID);
  left = left.subarray(ID);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Random bytes for many ids; undefined where the system has no such file. */
function systemBytes(): Buffer | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    const file = openSync(SYSTEM, 'r');
    try {
      const bytes = Buffer.alloc(MANY);
      return readSync(file, bytes) === bytes.length ? bytes : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
