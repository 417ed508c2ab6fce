import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

type Fields = Readonly<Record<string, unknown>>;

/** Fields whose text a de-identified copy keeps: written by hand, so that nothing of the product says what is right. */
const KEPT = new Set(
  `type gender patientStatus contactMethod languageType state discountType mimeType ownerType tagType ledgerType ownership status
  action relationshipToSubscriber eligibilityCheckType paymentResponsibilityOrder recurrenceType recurrenceDays recurrenceWeek
  recurrenceDay color bookingType phoneType examImageOutputFormat attachmentType`.split(/\s+/),
);

/** Everything in records that must not be found in a copy: texts, dates, and ids, which are digits. */
export function originalsOf(records: Iterable<Fields>): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown, name: string) => {
    if (Array.isArray(value)) for (const entry of value) walk(entry, name);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(inner, key);
    else if (typeof value === 'string' && !KEPT.has(name)) found.add(value);
    else if (typeof value === 'number' && /^id$|Id$/.test(name)) found.add(String(value));
  };
  for (const { storage: _, ...record } of records) walk(record, '');
  found.delete('');
  return found;
}

/** Bytes as they would stand in a file: the text, and of an id also the whole number as SQLite stores it. */
function formsOf(original: string): Buffer[] {
  if (!/^\d{9,18}$/.test(original)) return [Buffer.from(original)];
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(BigInt(original));
  return [Buffer.from(original), number.subarray(number.findIndex((byte) => byte !== 0) > 1 ? 2 : 0)];
}

/** Finds originals in bytes, those of which they are long enough to be no coincidence: one pass, by their first four bytes. */
export class Finder {
  private readonly byStart = new Map<number, { readonly form: Buffer; readonly original: string }[]>();
  /** Whether an original begins with these two bytes. */
  private readonly isStart = new Uint8Array(65_536);
  readonly count: number;

  constructor(originals: Iterable<string>) {
    let count = 0;
    for (const original of originals) {
      // Few digits stand in any larger number.
      if (Buffer.byteLength(original) < 4 || /^\d{1,8}$/.test(original)) continue;
      count++;
      for (const form of formsOf(original)) {
        const start = form.readInt32BE(0);
        this.isStart[form.readUInt16BE(0)] = 1;
        this.byStart.set(start, [...(this.byStart.get(start) ?? []), { form, original }]);
      }
    }
    this.count = count;
  }

  in(bytes: Buffer): Set<string> {
    const found = new Set<string>();
    for (let at = 0; at + 4 <= bytes.length; at++) {
      if (this.isStart[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] === 0) continue;
      for (const { form, original } of this.byStart.get(bytes.readInt32BE(at)) ?? [])
        if (bytes.subarray(at, at + form.length).equals(form)) found.add(original);
    }
    return found;
  }
}

/** The bytes of all files below a folder, but for those of these names. */
export async function bytesBelow(folder: string, except: readonly string[] = []): Promise<Buffer> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !except.includes(entry.name));
  const contents = await Promise.all(
    // What is gone by now was no file to keep.
    files.map((entry) => readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0))),
  );
  return Buffer.concat(contents);
}
