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

/**
 * Reads NDJSON as it comes: blank lines are skipped, a line that is no JSON object is a problem. Throws `ImportRefused`
 * for a line too long to be held.
 */
export async function* readLines(source: Readable, problems: ProblemList): AsyncGenerator<ImportLine> {
  let line = 0;
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const bytes of splitLines(source)) {
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
export function* numberRecords(records: Iterable<Readonly<Record<string, unknown>>>): Generator<ImportLine> {
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

function decoded(bytes: Buffer, utf8: { readonly decode: (bytes: Buffer) => string }): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

async function* splitLines(source: Readable): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  let line = 1;
  for await (const chunk of source) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const last = rest.subarray(0, end);
      yield pending.length === 0 ? last : Buffer.concat([...pending, last]);
      pending = [];
      size = 0;
      line++;
      rest = rest.subarray(end + 1);
    }
    pending.push(rest);
    size += rest.length;
    if (size > MAX_LINE_BYTES) {
      throw new ImportRefused([{ line, field: null, message: `The line has more than ${MAX_LINE_BYTES} bytes.` }], 1);
    }
  }
  if (size > 0) yield Buffer.concat(pending);
}
