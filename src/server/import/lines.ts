import type { Readable } from 'node:stream';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { ImportRefused, type ProblemList } from './problems.ts';

/** One record of an import and the line it stands on. */
export interface ImportLine {
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Longest line: a document of 50 MiB in base64 and its fields. */
const MAX_LINE_BYTES = 80 * 1024 * 1024;

/** The lines of an import, as many at once as came at once: all of those are read before the next ones are asked for. */
export type LineSource = AsyncIterable<Iterable<ImportLine>> | Iterable<Iterable<ImportLine>>;

/**
 * Reads NDJSON as it comes: blank lines are skipped, a line that is no JSON object is a problem. Throws `ImportRefused`
 * for a line too long to be held.
 */
export async function* readLines(source: Readable, problems: ProblemList): AsyncGenerator<Iterable<ImportLine>> {
  let before = 0;
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const lines of splitLines(source)) {
    yield readEach(lines, before, utf8, problems);
    before += lines.length;
  }
}

/** Reads lines one by one, as they are asked for, so that problems are told in the order of lines. */
function* readEach(
  lines: readonly Buffer[],
  before: number,
  utf8: Decoder,
  problems: ProblemList,
): Generator<ImportLine> {
  let line = before;
  for (const bytes of lines) {
    line++;
    const text = decoded(bytes, utf8);
    if (text === undefined) {
      problems.add(line, null, 'The line is not text in UTF-8.');
      continue;
    }
    const trimmed = line === 1 ? text.replace(/^\uFEFF/, '').trim() : text.trim();
    if (trimmed === '') continue;
    const record = parseObject(trimmed);
    if (record === undefined) problems.add(line, null, 'The line is not one JSON object.');
    else yield { line, record };
  }
}

/** Records that are objects already, numbered like lines. */
export function numberRecords(records: Iterable<Readonly<Record<string, unknown>>>): LineSource {
  return [numbered(records)];
}

function* numbered(records: Iterable<Readonly<Record<string, unknown>>>): Generator<ImportLine> {
  let line = 0;
  for (const record of records) yield { line: ++line, record };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Decoder {
  decode(bytes: Buffer): string;
}

function decoded(bytes: Buffer, utf8: Decoder): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lines without their ends, those of a chunk together. */
async function* splitLines(source: Readable): AsyncGenerator<readonly Buffer[]> {
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
  if (size > 0) yield [Buffer.concat(pending)];
}

const LINE_END = 10;
