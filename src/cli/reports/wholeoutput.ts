import { type Failure, usageFailure } from '../../core/failure.ts';
import { openAtomicFile } from '../../core/output/atomicfile.ts';
import { streamSink } from '../../core/output/sink.ts';
import { terminalSafe } from '../../core/output/terminalsafe.ts';
import type { Row } from '../../core/pages/page.ts';
import type { Context } from '../context.ts';
import type { RowPlan } from '../rowplan.ts';
import { unlessAborted } from '../streams.ts';

/**
 * Writes text that is made as a whole. The output is opened before the text is made, so that nothing is asked of the
 * server in vain, and stays as it was when anything fails.
 */
export async function writeWhole(plan: RowPlan, context: Context, make: () => Promise<string>): Promise<void> {
  const write = (chunk: string | Uint8Array) => unlessAborted(context.streams.stdout.write(chunk), context.signal);
  const sink = plan.out === undefined ? streamSink(write) : await openAtomicFile(plan.out);
  try {
    const text = await make();
    await sink.write(plan.toTerminal ? terminalSafe(plan.format)(text) : text);
    await sink.commit();
  } catch (cause) {
    await sink.abort();
    throw cause;
  }
}

/** For `--fields` with what has a fixed form: `table of days`. */
export function noFields(form: string): Failure {
  return usageFailure(`--fields has no effect on the ${form}; it goes with csv, xlsx, json or ndjson.`, {
    source: '--fields',
  });
}

/** A JSON object whose lists have an entry a line. */
export function jsonDocument(parts: Row): string {
  const members = Object.entries(parts).map(([name, value]) => `${JSON.stringify(name)}: ${jsonMember(value)}`);
  return `{\n${members.join(',\n')}\n}\n`;
}

function jsonMember(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value);
  return `[\n${value.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`;
}
