import type { Fields } from '../../catalog/fields/kind.ts';
import type { ScanFormat } from '../jsonscan/scanformats.ts';
import type { Row } from '../pages/page.ts';
import type { MessageFormatter } from '../stream/messageforms.ts';
import type { RecordSpool } from '../stream/recordspool.ts';
import type { Column } from './columns.ts';
import type { CsvOptions } from './csv.ts';
import type { RecordCounter } from './json.ts';
import type { LocalClock } from './localclock.ts';
import type { Sink } from './sink.ts';
import type { Style } from './style.ts';
import type { Formatter } from './writepages.ts';

/** What writers know of the terminal and the zone. The clock is a function, since it reads the configuration. */
export interface WriterOptions {
  /** Columns of the terminal; undefined where there is none. */
  readonly width: number | undefined;
  readonly style: Style;
  readonly clock: () => LocalClock;
  /** The clock of the times of a record, that of its location (D56). */
  readonly clockOf: (record: Row) => LocalClock;
}

/** What a writer of rows knows of its output. */
export interface RowWriterOptions extends WriterOptions, CsvOptions {
  readonly columns: readonly Column[];
  /** Records already in the output, when a run is resumed. */
  readonly written: number;
  /** Called with the names of the columns that did not fit. */
  readonly onHidden: (names: readonly string[]) => void;
}

/** What a writer of one record knows of its output. */
export interface RecordWriterOptions extends WriterOptions, CsvOptions {
  readonly fields: Fields;
  /** Names to show, in their order; all where undefined. */
  readonly selection: readonly string[] | undefined;
  /** What a table shows, names among it; by `selection` where absent. */
  readonly shown?: readonly Column[] | undefined;
}

/** What a container of rows knows of them. */
export interface PackOptions extends Pick<RowWriterOptions, 'columns' | 'header' | 'clock' | 'clockOf'> {
  /** What one record is called, and what several are: `patient`, `patients`. */
  readonly one: string;
  readonly many: string;
  readonly openSpool: () => Promise<RecordSpool>;
  readonly signal: AbortSignal;
}

/**
 * Makes text of a format safe to show: afterwards no character of a record moves the cursor, changes the terminal or
 * turns the direction of text. `refused`: the format is no text, and a terminal does not get it.
 */
export type TerminalSafety = ((text: string) => string) | 'refused';

/** An output format: everything that molar knows of it. Its writers load what they need when they are called. */
export interface FormatRow {
  /** What it is, for help. */
  readonly about: string;
  /** Extensions of `--out FILE` that choose it; files that molar names get the first. None: never the content of a file. */
  readonly extensions: readonly string[];
  readonly terminal: TerminalSafety;
  /** `columns`: chosen and flattened fields. `records`: the API's records as they are. `page`: made by a report alone. */
  readonly content: 'columns' | 'records' | 'page';
  /** Worthless in part, so that standard output gets all of it or nothing; otherwise written as pages arrive. */
  readonly isBuffered: boolean;
  /** Whether `--resume` can continue an interrupted file. */
  readonly isResumable: boolean;
  /** For people, who get few columns, local times, and notes on both. */
  readonly isForPeople?: true;
  /** Has local times, and names beside ids (D55, D56). */
  readonly isLocal?: true;
  /** Takes `--excel`. */
  readonly hasExcelForm?: true;
  /** Text that a spreadsheet would run as a formula is neutralised, unless `--no-escape-formulas` is given. */
  readonly escapesFormulas?: true;
  /** What has it, where not every command does; completes "is a format of …". */
  readonly scope?: string;
  readonly rows?: (look: RowWriterOptions) => Promise<Formatter>;
  /** Writes records with the types of their fields; no terminal and no list has it. */
  readonly typed?: (columns: readonly Column[], fields: Fields) => Promise<Formatter<string | Uint8Array>>;
  /** Writes whole rows from the bytes of a page, without parsing them: the same text several times as fast. */
  readonly scan?: (columns: readonly Column[], options: CsvOptions) => Promise<ScanFormat>;
  readonly record?: (record: Row, look: RecordWriterOptions) => Promise<string>;
  /** Any JSON value, such as the envelope of a response. */
  readonly value?: (value: unknown) => string;
  readonly messages?: (look: WriterOptions) => Promise<MessageFormatter>;
  /** Puts the text of rows into a container. */
  readonly pack?: (look: PackOptions) => Promise<(inner: Sink) => Sink>;
  /** Counts the records of a file by its bytes; without it a file is verified by its bytes and hash alone. */
  readonly counter?: (options: Pick<CsvOptions, 'header'>) => Promise<RecordCounter>;
}
