import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Fields } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import type { Row } from '../pages/page.ts';
import { partsOf, shownCents } from '../reports/money.ts';
import { type Column, cellText, valueAt } from './columns.ts';
import type { Formatter } from './writepages.ts';

/** Rows of a group, which are held in memory until it is written. */
const GROUP = 10_000;

const DAY = 86_400_000;

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** How a kind of value is stored, and its stored form; undefined for a value of another kind. */
interface Storage {
  readonly element: Omit<Element, 'name' | 'repetition_type'>;
  readonly stored: (value: unknown) => unknown;
}

const TEXT: Storage = { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, stored: cellText };

const WHOLE: Storage = {
  element: { type: 'INT64' },
  stored: (value) => (/^-?\d{1,18}$/.test(String(value)) ? BigInt(String(value)) : undefined),
};

const NESTED: Storage = { element: { type: 'BYTE_ARRAY', converted_type: 'JSON' }, stored: (value) => value };

/** By kind of value; all else is text. */
const STORAGES: Readonly<Record<string, Storage>> = {
  id: WHOLE,
  integer: WHOLE,
  link: WHOLE,
  number: { element: { type: 'DOUBLE' }, stored: (value) => (typeof value === 'number' ? value : undefined) },
  dollars: {
    element: { type: 'INT64', converted_type: 'DECIMAL', scale: 2, precision: 18 },
    stored: (value) => {
      const parts = partsOf(value);
      return parts === undefined ? undefined : BigInt(shownCents(parts));
    },
  },
  yesNo: { element: { type: 'BOOLEAN' }, stored: (value) => (typeof value === 'boolean' ? value : undefined) },
  date: {
    element: { type: 'INT32', converted_type: 'DATE' },
    stored: (value) =>
      number(/^\d{4}-\d\d-\d\d$/.test(cellText(value)) ? Date.parse(cellText(value)) / DAY : Number.NaN),
  },
  dateTime: {
    element: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
    stored: (value) => {
      const instant = number(Date.parse(cellText(value)));
      return instant === undefined ? undefined : BigInt(instant);
    },
  },
  list: NESTED,
  map: NESTED,
  object: NESTED,
};

function number(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

/**
 * Parquet with a type for each column: ids and whole numbers as 64-bit integers, dollars as decimals of two places, dates,
 * instants in UTC, lists as JSON. Holds no more than a group of rows. Throws a Failure for a value that its column
 * cannot hold.
 */
export function parquetFormatter(columns: readonly Column[], fields: Fields): Formatter<string | Uint8Array> {
  const typed = columns.map((column) => ({ column, ...storageOf(column, fields) }));
  const bytes = new ByteWriter();
  const root: Element = { name: 'root', num_children: columns.length };
  const elements = typed.map(({ column, element }): Element => {
    return { ...element, name: column.name, repetition_type: 'OPTIONAL' };
  });
  const writer = new ParquetWriter({ writer: bytes, schema: [root, ...elements], createdBy: 'molar' });
  let group: Row[] = [];
  const flushed = () => {
    const taken = Uint8Array.from(bytes.getBytes());
    // What was taken is no part of the file that is still in memory; the offset goes on.
    bytes.index = 0;
    return taken;
  };
  const write = () => {
    const columnData = typed.map(({ column, stored }) => {
      const data = group.map((row) => storedValue(valueAt(row, column), column, row, stored));
      return { name: column.name, data };
    });
    group = [];
    void writer.write({ columnData, rowGroupSize: GROUP });
  };
  return {
    begin: () => '',
    rows: (rows) => {
      group.push(...rows);
      if (group.length < GROUP) return '';
      write();
      return flushed();
    },
    end: () => {
      if (group.length > 0) write();
      void writer.finish();
      return flushed();
    },
  };
}

function storageOf({ kind, path: [name = ''] }: Column, fields: Fields): Storage {
  // A part of a linked record has no kind of its own.
  return STORAGES[kind ?? (Object.hasOwn(fields, name) ? (fields[name]?.kind.name ?? '') : '')] ?? TEXT;
}

function storedValue(value: unknown, { name }: Column, row: Row, stored: Storage['stored']): unknown {
  if (value === null || value === undefined) return undefined;
  const result = stored(value);
  if (result !== undefined) return result;
  throw localFailure(
    'local.file',
    `${name} of record ${String(row.id)} is no value of its kind, so Parquet cannot hold it.`,
    {
      hint: 'Nothing was written. Use --format csv.',
    },
  );
}
