import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { removeFile } from '../../filesystem/durable.ts';
import { countText, quantity } from '../count.ts';
import { fileFailure, localFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, readIfPresent, writeAtomicFile } from '../output/atomicfile.ts';
import { FORMATS, isFormat } from '../output/formats.ts';
import type { Proof } from '../pages/complete.ts';
import type { ExportKind } from './changesfile.ts';

/** What a finished export was: proof that it is complete, and of what (contract §5). */
export interface Receipt {
  readonly file: string;
  readonly complete: true;
  /** A file of changes holds only what was modified since the last complete run of its bookmark. */
  readonly kind: ExportKind;
  /** Of a file made of a mirror: as of when that was true, UTC. */
  readonly asOf?: string | null;
  readonly url: string;
  readonly organization: string;
  readonly resource: string;
  /** The filter sent with every page, null for none. */
  readonly filter: string | null;
  readonly fields: readonly string[] | null;
  readonly format: string;
  /** Whether the first line of CSV names the columns. */
  readonly header: boolean;
  readonly sinceLast: string | null;
  readonly rows: number;
  readonly pages: number;
  /** Numbers where they are exact as such, otherwise texts; null for no rows. */
  readonly firstId: number | string | null;
  readonly lastId: number | string | null;
  readonly bytes: number;
  readonly sha256: string;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly resumed: number;
  readonly retries: number;
  readonly throttledSeconds: number;
  readonly warnings: readonly Warning[];
  /** How the export is known to hold every record that matches (D48). */
  readonly proof: Proof;
}

/** Path of the receipt of a file: beside it. */
export function receiptPath(path: string): string {
  return `${path}.receipt.json`;
}

/** The receipt of a file. Throws a Failure with exit code 9 where there is none, or none that makes sense. */
export async function readReceipt(path: string): Promise<Receipt> {
  const from = receiptPath(path);
  const text = await readIfPresent(from);
  if (text === undefined) {
    throw localFailure('local.file', `${path} has no receipt: there is no ${from}.`, {
      source: from,
      hint: 'Export it again with --receipt; molar export always writes receipts.',
    });
  }
  const receipt = jsonOf(text);
  if (isReceipt(receipt)) return receipt;
  const problem = { source: from, hint: 'Export the file again.' };
  throw localFailure('local.file', `${from} is not a receipt of molar.`, problem);
}

function isReceipt(value: unknown): value is Receipt {
  return (
    isPlainObject(value) &&
    value.complete === true &&
    [value.rows, value.bytes, value.pages].every(Number.isSafeInteger) &&
    [value.sha256, value.format, value.file].every((text) => typeof text === 'string')
  );
}

/** Writes the receipt beside its file; throws a Failure with exit code 9. */
export function writeReceipt(path: string, receipt: Receipt): Promise<void> {
  return writeAtomicFile(receiptPath(path), `${JSON.stringify(receipt, null, 2)}\n`);
}

/** Removes the receipt of an older file, which the new one would contradict; what is no receipt stays. */
export async function removeReceipt(path: string): Promise<void> {
  const from = receiptPath(path);
  const text = await readIfPresent(from);
  if (text !== undefined && isReceipt(jsonOf(text))) await guarded(`remove ${from}`, () => removeFile(from));
}

/** An id as a number where it is exact as one. */
export function exactId(id: string | null): number | string | null {
  return id !== null && Number.isSafeInteger(Number(id)) ? Number(id) : id;
}

/** What a file is, against what its receipt says. */
export interface Verified {
  readonly receipt: Receipt;
  /** Everything in which the file differs, in words; empty when it is what was exported. */
  readonly problems: readonly string[];
}

/**
 * Reads a file and compares bytes, hash and records with the receipt beside it. Throws a Failure with exit code 9 when
 * either cannot be read.
 */
export async function verifyExport(path: string, signal?: AbortSignal): Promise<Verified> {
  const receipt = await readReceipt(path);
  const counter = isFormat(receipt.format) ? await FORMATS[receipt.format].counter?.(receipt) : undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      counter?.take(chunk);
      bytes += chunk.byteLength;
    }
  } catch (cause) {
    signal?.throwIfAborted();
    throw fileFailure(`read ${path}`, cause);
  }
  const rows = counter?.total() ?? receipt.rows;
  const problems = [
    ...(bytes === receipt.bytes ? [] : [`it has ${bytes} bytes, and ${receipt.bytes} were exported`]),
    ...(rows === receipt.rows
      ? []
      : [`it has ${quantity(rows, 'record')}, and ${countText(receipt.rows)} were exported`]),
    ...(hash.digest('hex') === receipt.sha256 ? [] : ['its content is not what was exported (sha256)']),
  ];
  return { receipt, problems };
}
