import type { Readable } from 'node:stream';
import type { Problem } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { decodeUtf8, NotText } from '../../text/decode.ts';
import { utf8Chunks } from '../../text/stream.ts';

/** One record of an import and its line, from 1. */
export interface ImportLine {
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** The lines of an import in groups, as they arrive: a group is consumed before the next one is requested. */
export type LineSource = AsyncIterable<Iterable<ImportLine>> | Iterable<Iterable<ImportLine>>;

/** Opens the source of an import, whose reader reports what is no record. */
export type OpenSource = (problems: ProblemList) => LineSource;

/** A problem of an import and its line, from 1. */
export interface ImportProblem {
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}

/** Maximum listed problems; the rest is counted. */
export const MAX_LISTED_PROBLEMS = 50;

/** An import that was refused: nothing of it is in the store. */
export class ImportRefused extends Error {
  constructor(
    readonly problems: readonly ImportProblem[],
    readonly total: number,
  ) {
    super(`The import has ${total === 1 ? 'one problem' : `${total} problems`}; nothing was imported.`);
    this.name = 'ImportRefused';
  }
}

/** Collects the problems of an import: counts all, lists some. */
export class ProblemList {
  readonly listed: ImportProblem[] = [];
  total = 0;

  add(line: number, field: string | null, message: string): void {
    this.total++;
    if (this.listed.length < MAX_LISTED_PROBLEMS) this.listed.push({ line, field, message });
  }

  addAll(line: number, problems: readonly Problem[]): void {
    for (const problem of problems) this.add(line, problem.source, problem.description);
  }

  throwIfAny(): void {
    if (this.total > 0) throw new ImportRefused(this.listed, this.total);
  }
}

/** The problem of a line without a required field. */
export function missingField(name: string): Problem {
  return { code: 'field.missing', source: name, description: `${name} is required.` };
}

/** Maximum bytes of a line: a document of 50 MiB in base64 and its fields. */
const MAX_LINE_BYTES = 80 * 1024 * 1024;

const LINE_END = 10;

/**
 * Reads NDJSON as it arrives, in any encoding that `utf8Chunks` knows; blank lines are skipped. Throws `ImportRefused`
 * for a line that is too long, and for half a character of UTF-16.
 */
export async function* readLines(source: Readable, problems: ProblemList): AsyncGenerator<Iterable<ImportLine>> {
  let before = 0;
  try {
    for await (const lines of splitLines(utf8Chunks(source))) {
      yield parseLines(lines, before, problems);
      before += lines.length;
    }
  } catch (cause) {
    if (!(cause instanceof NotText)) throw cause;
    const message = `The file cannot be read as text: ${cause.message}. ${cause.next}`;
    throw new ImportRefused([{ line: cause.line, field: null, message }], 1);
  }
}

/** Parses lines one by one, on demand, so that problems are reported in the order of lines. */
function* parseLines(lines: readonly Buffer[], before: number, problems: ProblemList): Generator<ImportLine> {
  let line = before;
  for (const bytes of lines) {
    line++;
    const found = parseLine(bytes);
    if (typeof found === 'string') problems.add(line, null, found);
    else if (found !== undefined) yield { line, record: found };
  }
}

/** The record of a line, what is wrong with it, or undefined for a blank one. */
function parseLine(bytes: Buffer): ImportLine['record'] | string | undefined {
  try {
    const text = decodeUtf8(bytes).trim();
    if (text === '') return undefined;
    const record: unknown = JSON.parse(text);
    if (isPlainObject(record)) return record;
  } catch (cause) {
    if (cause instanceof NotText) return `Byte ${cause.byte} of the line is not UTF-8. ${cause.next}`;
  }
  return bytes.includes(0) ? HAS_NUL : 'The line is not a JSON object.';
}

const HAS_NUL = 'The line has a NUL: the file is UTF-16 without a byte order mark, or no text. Save it as UTF-8.';

/** Lines without their ends, those of a chunk together. */
async function* splitLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Buffer[]> {
  let pending: Buffer[] = [];
  let size = 0;
  let line = 1;
  for await (const part of source) {
    const chunk = part as Buffer;
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const last = chunk.subarray(start, end);
      lines.push(pending.length === 0 ? last : Buffer.concat([...pending, last]));
      pending = [];
      size = 0;
      start = end + 1;
    }
    if (lines.length > 0) yield lines;
    line += lines.length;
    pending.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES) {
      throw new ImportRefused([{ line, field: null, message: `The line has more than ${MAX_LINE_BYTES} bytes.` }], 1);
    }
  }
  // Blank when the last line has an end.
  yield [Buffer.concat(pending)];
}

/** Records that are objects already, numbered like lines. */
export function numberRecords(records: Iterable<ImportLine['record']>): LineSource {
  return [numbered(records)];
}

function* numbered(records: Iterable<ImportLine['record']>): Generator<ImportLine> {
  let line = 0;
  for (const record of records) yield { line: ++line, record };
}
