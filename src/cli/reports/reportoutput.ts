import { untilAborted } from '../../core/abort.ts';
import { type Failure, usageFailure } from '../../core/failure.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { FORMATS, formatsFor, terminalSafe } from '../../core/output/formats.ts';
import { streamSink } from '../../core/output/sink.ts';
import type { Row } from '../../core/pages/page.ts';
import type { Context } from '../context.ts';
import type { Destination } from '../flags/output.ts';
import { pagedSink } from '../terminal/pager.ts';

/**
 * Writes text that is made at once, or piece by piece once everything it is made of is known. The output is opened
 * before that, so that nothing is requested in vain, and stays as it was when anything fails.
 */
export async function writeReport(
  plan: Destination,
  context: Context,
  make: () => Promise<string | Generator<string | Uint8Array>>,
): Promise<void> {
  const write = (chunk: string | Uint8Array) => untilAborted(context.streams.stdout.write(chunk), context.signal);
  const { page } = context.streams;
  const isPaged = plan.toTerminal && FORMATS[plan.format].isForPeople;
  const shown = page !== undefined && isPaged ? pagedSink(page, write) : streamSink(write);
  const sink = plan.out === undefined ? shown : await openAtomicFile(plan.out);
  try {
    const text = await make();
    const safe = plan.toTerminal ? terminalSafe(plan.format) : (piece: string) => piece;
    for (const piece of typeof text === 'string' ? [text] : text) {
      await sink.write(typeof piece === 'string' ? safe(piece) : piece);
    }
    await sink.commit();
  } catch (cause) {
    await sink.abort();
    throw cause;
  }
}

const FORMATS_WITH_FIELDS = formatsFor('files').join(', ');

/** For `--fields` with output whose columns are fixed: `table of days`. */
export function noFields(form: string): Failure {
  return usageFailure(`--fields has no effect on the ${form}; it goes with ${FORMATS_WITH_FIELDS}.`, {
    source: '--fields',
  });
}

/**
 * A JSON object whose lists have an entry per line, in pieces of complete lines. A list may be made while it is written.
 * `textOf`: writes a value as JSON.
 */
export function* jsonDocument(parts: Row, textOf: (value: unknown) => string = JSON.stringify): Generator<string> {
  let before = '{\n';
  for (const [name, value] of Object.entries(parts)) {
    yield `${before}${JSON.stringify(name)}: `;
    if (isList(value)) yield* jsonList(value, textOf);
    else yield textOf(value);
    before = ',\n';
  }
  yield '\n}\n';
}

function isList(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function* jsonList(entries: Iterable<unknown>, textOf: (value: unknown) => string): Generator<string> {
  let isEmpty = true;
  for (const rows of slices(entries)) {
    yield `${isEmpty ? '[\n' : ',\n'}${rows.map((entry) => textOf(entry)).join(',\n')}`;
    isEmpty = false;
  }
  yield isEmpty ? '[]' : '\n]';
}

/** Rows that are made and written at a time. */
const SLICE = 500;

function* slices<T>(all: Iterable<T>): Generator<T[]> {
  let slice: T[] = [];
  for (const one of all) {
    slice.push(one);
    if (slice.length < SLICE) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

/** Rows that are known already as pages. */
export async function* inPages<T>(rows: Iterable<T>): AsyncGenerator<{ readonly rows: readonly T[] }> {
  for (const slice of slices(rows)) yield { rows: slice };
}

/** Applies `of` lazily. */
export function* mapped<T, R>(all: Iterable<T>, of: (one: T) => R): Generator<R> {
  for (const one of all) yield of(one);
}
