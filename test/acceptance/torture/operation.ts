import type { Asked } from './request.ts';
import type { JsonRecord, Table, Verb } from './state.ts';

/** A change that an operation makes when it is done: told by the stream and written down in the audit log in this order. */
export interface Expected {
  readonly verb: Verb;
  readonly table: Table;
  /** Undefined for a record that the operation makes. */
  readonly id?: number;
  /** Values that the message has, among others. */
  readonly has?: Readonly<Record<string, unknown>>;
}

/** SHA-256 of a document's files by variant. */
export type Content = Readonly<Record<string, string>>;

/** One write of a client, and everything that it does: all of it or nothing. */
export interface Operation extends Asked {
  /** What kind of write it is, for the figures. */
  readonly name: string;
  readonly requestId: string;
  readonly expected: readonly Expected[];
  /** Files that a new document has. */
  readonly content?: Content;
  /** Takes the answer over into what the writer works on. */
  readonly done?: (record: JsonRecord) => void;
}

/** Acknowledged: a whole answer of success came. Unknown: it did not, or it was 5xx. Refused: answered 4xx. */
export type Outcome = 'acknowledged' | 'unknown' | 'refused';

export interface Logged {
  readonly operation: Operation;
  readonly outcome: Outcome;
  readonly status: number | undefined;
  /** Text of the answer, where one came. */
  readonly text: string | undefined;
}
