import { createHmac } from 'node:crypto';
import { localFailure } from '../../failure.ts';
import { MirrorRecord, recordOf } from '../records.ts';
import { valueAt } from '../rows.ts';
import type { LoadProgress, ReceivedChange } from '../store.ts';
import type { ChildTable, MirrorColumn, MirrorTable } from '../tables.ts';
import { type Keep, keepOf } from './keeping.ts';
import { Permutation } from './permutation.ts';

/** Pseudonyms that are remembered: of locations, providers, and patients whose records come together. */
const MAX_REMEMBERED = 50_000;

/**
 * Makes of records and changes what a de-identified copy keeps (D52): nothing else of them may reach the disk. The copy
 * knows pseudonyms alone; what is asked of the service is asked by `original`.
 */
export class Deidentifier {
  private readonly permutation: Permutation;
  private readonly remembered = new Map<string, string>();
  private readonly keeps = new Map<MirrorColumn, Keep>();

  /** `secret`: 32 random bytes. `now`: UTC milliseconds. */
  constructor(
    private readonly secret: Uint8Array,
    private readonly now: () => number,
  ) {
    this.permutation = new Permutation(secret);
  }

  /** Tells one key from another, and nothing else of it. */
  get fingerprint(): string {
    return this.digest('key');
  }

  /** The id that has a pseudonym, both digits. */
  original(pseudonym: string): string {
    const id = /^\d{1,19}$/.test(pseudonym) ? this.permutation.original(BigInt(pseudonym)) : undefined;
    if (id === undefined) throw new Error('An id of the copy is no pseudonym.');
    return String(id);
  }

  /** What is kept of a record, or of a part of one. Throws a Failure (exit 8) where it has no usable id. */
  record(table: MirrorTable, { values }: MirrorRecord): MirrorRecord {
    const kept: Record<string, unknown> = {};
    const isThere = (field: string) => Object.hasOwn(values, field);
    for (const column of table.columns.filter(({ path }) => isThere(path[0] ?? '')))
      place(kept, column.path, this.keep(table, column, valueAt(values, column.path)));
    for (const child of table.children.filter(({ field }) => isThere(field)))
      kept[child.field] = this.entries(table, child, values[child.field]);
    if (kept.id === null || kept.id === undefined)
      throw localFailure('response.malformed', `A record of ${table.resource.many} has an id that is no whole number.`);
    return new MirrorRecord(kept.id, JSON.stringify(kept), kept);
  }

  /** What is kept of a change. */
  change(change: ReceivedChange): ReceivedChange {
    const { id, text } = this.record(change.table, recordOf(change.payload));
    return { ...change, id: String(id), at: this.instant(change.at), payload: text };
  }

  /** How far a load has come, as it may be kept. */
  progress(progress: LoadProgress): LoadProgress {
    const { lastId } = progress;
    return { ...progress, lastId: lastId === '0' ? lastId : (this.pseudonym(lastId) ?? '0') };
  }

  /** What `progress` was made of. */
  originalProgress(progress: LoadProgress): LoadProgress {
    const { lastId } = progress;
    return { ...progress, lastId: lastId === '0' ? lastId : this.original(lastId) };
  }

  /** The first moment of the year of an instant: when a row was written tells when its record changed. */
  instant(at: string): string {
    return `${at.slice(0, 4)}-01-01T00:00:00.000Z`;
  }

  private keep(table: MirrorTable, column: MirrorColumn, value: unknown): unknown {
    if (value === null || value === undefined) return null;
    const known = this.keeps.get(column);
    if (known !== undefined) return known(value);
    const context = { now: this.now, pseudonym: (id: unknown) => this.pseudonym(id) };
    const made = keepOf(table, column, { ...context, digest: (text) => this.digest(text) });
    this.keeps.set(column, made);
    return made(value);
  }

  /** The entries of a list, or of a map; those of which nothing is kept go. */
  private entries(table: MirrorTable, { columns }: ChildTable, list: unknown): unknown {
    if (typeof list !== 'object' || list === null) return null;
    const isList = Array.isArray(list);
    const [key] = columns.filter(({ name }) => !isList && name === 'key');
    const kept = Object.entries(list).flatMap(([name, entry], index) => {
      const found = columns
        .filter((column) => column !== key)
        .map((column) => ({
          path: column.path,
          value: this.keep(table, column, valueAt(entry, column.path)),
        }));
      if (found.every(({ value }) => value === null)) return [];
      const place = key === undefined ? index : (this.keep(table, key, name) ?? `entry${index + 1}`);
      return [[String(place), entryOf(found)] as const];
    });
    return isList ? kept.map(([, entry]) => entry) : Object.fromEntries(kept);
  }

  private pseudonym(id: unknown): string | undefined {
    const digits = String(id);
    const known = this.remembered.get(digits);
    if (known !== undefined || !/^\d{1,19}$/.test(digits)) return known;
    const found = this.permutation.pseudonym(BigInt(digits));
    if (found === undefined) return undefined;
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    this.remembered.set(digits, String(found));
    return String(found);
  }

  private digest(text: string): string {
    return createHmac('sha256', this.secret).update(text).digest('hex').slice(0, 32);
  }
}

/** An entry of a list: its value itself, or an object. */
function entryOf(found: readonly { readonly path: readonly string[]; readonly value: unknown }[]): unknown {
  const [first] = found;
  if (first !== undefined && first.path.length === 0) return first.value;
  const entry: Record<string, unknown> = {};
  for (const { path, value } of found) place(entry, path, value);
  return entry;
}

/** Puts a value where a path leads. */
function place(record: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    record[name] = value;
    return;
  }
  const inner = (record[name] ?? {}) as Record<string, unknown>;
  record[name] = inner;
  place(inner, rest, value);
}
