import { isDeepStrictEqual } from 'node:util';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { memberText } from './jsonmembers.ts';
import { snakeCase } from './names.ts';
import { type MirrorRecord, recordOf } from './records.ts';
import { type ChildTable, type ColumnType, type MirrorColumn, type MirrorTable, UNMIRRORED_FIELDS } from './tables.ts';
import { type InstantOf, type StoredValue, storedValue } from './values.ts';

/** A record as rows: its own, and those of its lists, in the order of `MirrorTable.children`. */
export interface RecordRows {
  readonly id: StoredValue;
  /** In the order of `TableRows.columns`. */
  readonly values: readonly StoredValue[];
  readonly children: readonly (readonly (readonly StoredValue[])[])[];
}

/** Makes rows of the records of one table, and learns the fields that the catalog does not know. */
export class TableRows {
  /** Columns of the catalog and of unknown fields, in the order of the values. */
  readonly columns: MirrorColumn[];
  private readonly known: Set<string>;

  /** `learned`: columns of unknown fields, from earlier runs. `isOpen`: unknown fields become columns. */
  constructor(
    readonly table: MirrorTable,
    learned: readonly MirrorColumn[],
    private readonly isOpen: boolean,
    private readonly instantOf: InstantOf,
  ) {
    this.columns = [...table.columns, ...learned];
    const fields = [...this.columns.map(({ path }) => path[0] ?? ''), ...table.children.map(({ field }) => field)];
    this.known = new Set([...fields, ...UNMIRRORED_FIELDS]);
  }

  /** New columns for fields of records that have none yet; they are columns from now on. */
  learn(records: readonly MirrorRecord[]): MirrorColumn[] {
    const found: MirrorColumn[] = [];
    if (!this.isOpen || this.table.isDeidentified) return found;
    for (const record of records) {
      for (const field in record.values) {
        // A field that was always null so far has no type yet.
        if (this.known.has(field) || record.values[field] === null) continue;
        this.known.add(field);
        const column = { name: this.freeName(field), type: typeOf(record, field), path: [field], field, about: ABOUT };
        this.columns.push(column);
        found.push(column);
      }
    }
    return found;
  }

  /** The rows of a record. Throws a Failure (exit 8) for an id that no whole number of 64 bits holds. */
  rowsOf({ values, text }: MirrorRecord): RecordRows {
    const { columns, instantOf, table } = this;
    const stored = new Array<StoredValue>(columns.length);
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index] as MirrorColumn;
      const [field = ''] = column.path;
      const sent = column.path.length === 1 ? values[field] : valueAt(values, column.path);
      const value = storedValue(column.type, sent, instantOf);
      const isQuoted = column.type === 'json' && typeof value === 'string' && QUOTED_NUMBER.test(value);
      stored[index] = (isQuoted ? memberText(text, field) : undefined) ?? value;
    }
    const id = stored[0] as StoredValue;
    if (typeof id !== 'number' && typeof id !== 'bigint') {
      throw localFailure('response.malformed', `A record of ${table.resource.many} has an id that is no whole number.`);
    }
    return { id, values: stored, children: table.children.map((child) => this.entries(values[child.field], child)) };
  }

  /** What `_record` holds of a record; null in a de-identified copy. */
  recordText({ text }: MirrorRecord): string | null {
    return this.table.isDeidentified ? null : text;
  }

  /** Whether a record is what it was, JSON: the same fields in another order are no change. */
  isSame(before: string, record: MirrorRecord): boolean {
    if (jsonOf(before) === undefined) return false;
    const known = recordOf(before);
    if (this.table.isDeidentified) return isDeepStrictEqual(this.rowsOf(known), this.rowsOf(record));
    return isDeepStrictEqual(known.values, record.values);
  }

  private entries(value: unknown, { columns }: ChildTable): StoredValue[][] {
    if (typeof value !== 'object' || value === null) return [];
    const isList = Array.isArray(value);
    return Object.entries(value).map(([key, entry]) =>
      columns.map(({ name, type, path }) =>
        storedValue(type, !isList && name === 'key' ? key : valueAt(entry, path), this.instantOf),
      ),
    );
  }

  private freeName(field: string): string {
    const taken = new Set(this.columns.map(({ name }) => name));
    const name =
      snakeCase(field)
        .slice(0, MAX_NAME)
        .replace(/^_+|_+$/g, '') || 'field';
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    return free;
  }
}

/** PostgreSQL cuts names at 63 bytes; a number may have to follow. */
const MAX_NAME = 60;

/** What may be a long number of a record: among its values these are text. */
const QUOTED_NUMBER = /"-?\d[\d.eE+-]{15,}"/;

const ABOUT = 'A field that this version of molar does not know';

function typeOf({ values, text }: MirrorRecord, field: string): ColumnType {
  const value = values[field];
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value !== 'string') return 'json';
  // Long numbers are text among the values alone.
  const isNumber = /^-?\d/.test(value) && memberText(text, field)?.startsWith('"') === false;
  return isNumber ? 'number' : 'text';
}

/** The value where a path leads in a record, or in an entry of a list; undefined for none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    // A link that is not an object is the id itself.
    if (!isPlainObject(found)) return name === 'id' ? found : undefined;
    found = found[name];
  }
  return found;
}
