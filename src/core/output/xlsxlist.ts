import { isPlainObject, type Kind } from '../../catalog/fields/kind.ts';
import type { Row } from '../pages/page.ts';
import { type Column, columnsOf, valueAt } from './columns.ts';
import { tableText } from './displaytext.ts';
import type { LocalClock } from './localclock.ts';
import { type Cell, cellOf, type SheetKind } from './xlsxcells.ts';
import { SeenValues } from './xlsxvalues.ts';

/** A sheet of a list: its titles, and the rows that a record has in it. */
export interface ListSheet {
  readonly name: string;
  readonly titles: readonly string[];
  readonly rowsOf: (record: Row) => readonly (readonly (Cell | undefined)[])[];
}

/** What a list is called, and the clock of its times. */
export interface ListLook {
  readonly columns: readonly Column[];
  /** What one record is called, and what several are. */
  readonly one: string;
  readonly many: string;
  readonly clockOf: (record: Row) => LocalClock;
  /** The zone to name where no record tells one. */
  readonly zone: string;
}

/**
 * Turns records into rows of sheets: one of the records, in which lists of simple values stand side by side (`tags`,
 * `tags_2`), and one for each list of objects that has entries, with the id of the record they are of. It has to see all
 * records before it knows its sheets, since how many columns a list takes follows from them.
 */
export class SheetList {
  private readonly columns: readonly ListColumn[];
  private readonly zones = new Set<string>();

  constructor(private readonly look: ListLook) {
    const columns = look.columns.flatMap(columnsWithin);
    const names = columns.map(({ name }) => name);
    this.columns = columns.map((column) => new ListColumn(column, names));
  }

  see(record: Row): void {
    this.zones.add(this.look.clockOf(record).zone);
    for (const column of this.columns) column.see(record);
  }

  sheets(): readonly ListSheet[] {
    const { clockOf, many } = this.look;
    const columns = this.columns.map((column) => ({ column, kind: column.kind }));
    const main: ListSheet = {
      name: many,
      titles: columns.flatMap(({ column, kind }) => column.titles.map((title) => this.withZone(title, kind))),
      rowsOf: (record) => {
        const clock = clockOf(record);
        return [columns.flatMap(({ column, kind }) => column.cells(record, kind, clock))];
      },
    };
    return [main, ...this.columns.flatMap((column) => this.entriesOf(column))];
  }

  /** The sheet of a list of objects, where one has entries. */
  private entriesOf({ column, entryFields, most }: ListColumn): readonly ListSheet[] {
    if (entryFields === undefined || most === 0) return [];
    const parts = columnsOf(entryFields)
      .flatMap(columnsWithin)
      .map((part) => ({ part, kind: kindOf(part) }));
    return [
      {
        name: column.name,
        titles: [`${camelCase(this.look.one)}.id`, ...parts.map(({ part, kind }) => this.withZone(part.name, kind))],
        rowsOf: (record) => {
          const clock = this.look.clockOf(record);
          const id = cellOf(record.id, 'text', clock);
          return listOf(valueAt(record, column)).map((entry) => {
            const cell = ({ part, kind }: (typeof parts)[number]) =>
              isPlainObject(entry) ? cellOf(flat(valueAt(entry, part)), kind, clock) : undefined;
            return [id, ...parts.map(cell)];
          });
        },
      },
    ];
  }

  private withZone(title: string, kind: SheetKind): string {
    if (kind !== 'instant') return title;
    const [only = this.look.zone, ...others] = this.zones;
    return `${title} (${others.length === 0 ? only : 'local time'})`;
  }
}

/** Lists of objects of which one part is what people look for, with the title of its columns. */
const MAIN_PARTS: Readonly<Record<string, { readonly title: string; readonly part: string }>> = {
  phones: { title: 'phone', part: 'number' },
};

const CENTS = /(?<=.)(?:Cents|_cents)$/;

/** A column of a list, which may become several of its sheet. */
class ListColumn {
  /** Fields of the entries of a list of objects. */
  readonly entryFields: Kind['fields'];
  /** Entries of the longest list. */
  most = 0;
  private readonly isSpread: boolean;
  private readonly main: (typeof MAIN_PARTS)[string] | undefined;
  private readonly seen: SeenValues | undefined;
  /** The name of a column of cents without that word, where no other column has it; such a column is in dollars. */
  private readonly dollarsName: string | undefined;

  /** `names`: those of all columns. */
  constructor(
    readonly column: Column,
    names: readonly string[],
  ) {
    const { composite, name } = column;
    const item = composite?.item;
    const short = name.replace(CENTS, '');
    if (!names.includes(short)) this.dollarsName = short;
    this.entryFields = item?.fields;
    this.main = this.entryFields && MAIN_PARTS[name];
    this.isSpread = item !== undefined && (this.entryFields === undefined || this.main !== undefined);
    if (column.kind === 'any') this.seen = new SeenValues();
  }

  see(record: Row): void {
    const value = valueAt(record, this.column);
    this.seen?.see(value);
    if (this.column.composite !== undefined) this.most = Math.max(this.most, listOf(value).length);
  }

  /** What its cells hold, by all records seen. */
  get kind(): SheetKind {
    if (this.isCounted) return 'number';
    const isWhole = this.seen?.areIntegers ?? this.column.kind === 'integer';
    if (isWhole && this.dollarsName !== undefined) return 'cents';
    return this.seen?.kind ?? kindOf(this.column);
  }

  get titles(): string[] {
    const { name } = this.column;
    if (!this.isSpread) return [(this.kind === 'cents' ? this.dollarsName : undefined) ?? name];
    const title = this.main?.title ?? name;
    return Array.from({ length: this.width }, (_, at) => (at === 0 ? title : `${title}_${at + 1}`));
  }

  cells(record: Row, kind: SheetKind, clock: LocalClock): (Cell | undefined)[] {
    const value = valueAt(record, this.column);
    if (this.isCounted) return [Array.isArray(value) ? cellOf(value.length, kind, clock) : undefined];
    if (!this.isSpread) return [cellOf(flat(value), kind, clock)];
    const entries = listOf(value).map((entry) => cellOf(this.entryText(entry), kind, clock));
    return Array.from({ length: this.width }, (_, at) => entries[at]);
  }

  /** A list of objects, which have a sheet: only their number stands in the row. */
  private get isCounted(): boolean {
    return this.entryFields !== undefined && !this.isSpread;
  }

  private get width(): number {
    return Math.max(1, this.most);
  }

  private entryText(entry: unknown): string {
    return tableText(this.main && isPlainObject(entry) ? entry[this.main.part] : entry, undefined);
  }
}

/** The parts of an object as columns (`patientPaymentBilling.checkNumber`); any other column as it is. */
function columnsWithin(column: Column): readonly Column[] {
  const { fields } = column.composite ?? {};
  if (fields === undefined) return [column];
  const { name, path } = column;
  return columnsOf(fields).map((part) => ({ ...part, name: `${name}.${part.name}`, path: [...path, ...part.path] }));
}

/** The entries of a list or of a map; nothing for none. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isPlainObject(value)) return Object.values(value);
  return value === null || value === undefined ? [] : [value];
}

/** An object as people read it; any other value as it is. */
function flat(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? tableText(value, undefined) : value;
}

const KINDS: Readonly<Record<string, SheetKind>> = {
  integer: 'number',
  number: 'number',
  dollars: 'dollars',
  date: 'date',
  dateTime: 'instant',
};

function kindOf({ isId, kind = '' }: Column): SheetKind {
  return isId ? 'text' : (KINDS[kind] ?? 'text');
}

function camelCase(words: string): string {
  return words.replace(/ +(.)/g, (_, letter: string) => letter.toUpperCase());
}
