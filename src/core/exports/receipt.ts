import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Warning } from '../../catalog/failures.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { localFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { writeWholeFile } from '../output/atomicfile.ts';
import { guarded, ignoreMissing } from '../output/replacement.ts';
import type { Proof } from '../pages/complete.ts';
import type { ExportKind } from './changesfile.ts';
import type { ExportIdentity } from './identity.ts';
import type { Effort, Progress } from './journal.ts';
import type { PartMark } from './partialfile.ts';

/** What a finished export was: proof that it is whole, and of what (contract §5). */
export interface Receipt {
  readonly file: string;
  readonly complete: true;
  /** A file of changes holds only what was modified since the last complete run of its bookmark. */
  readonly kind: ExportKind;
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

export interface ReceiptFacts {
  readonly kind: ExportKind;
  readonly identity: ExportIdentity;
  readonly sentFilter: string | null;
  readonly progress: Progress;
  readonly effort: Effort;
  readonly mark: PartMark;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly warnings: readonly Warning[];
  readonly proof: Proof;
}

export function receiptOf(path: string, facts: ReceiptFacts): Receipt {
  const { identity, progress, effort, mark } = facts;
  const { url, organization, resource, fields, format, header, sinceLast } = identity;
  return {
    file: basename(path),
    complete: true,
    kind: facts.kind,
    ...{ url, organization, resource, filter: facts.sentFilter, fields, format, header, sinceLast },
    rows: progress.rows,
    pages: progress.pages,
    firstId: exactId(progress.firstId),
    lastId: exactId(progress.writtenId),
    ...mark,
    startedAt: facts.startedAt,
    endedAt: facts.endedAt,
    resumed: effort.resumed,
    retries: effort.retries,
    throttledSeconds: Math.round(effort.throttledMilliseconds / 100) / 10,
    warnings: facts.warnings,
    proof: facts.proof,
  };
}

/** Where the receipt of a file stands: beside it. */
export function receiptPath(path: string): string {
  return `${path}.receipt.json`;
}

/** The receipt of a file. Throws a Failure with exit code 9 where there is none, or none that makes sense. */
export async function readReceipt(path: string): Promise<Receipt> {
  const from = receiptPath(path);
  const text = await guarded(`read ${from}`, () => readFile(from, 'utf8').catch(ignoreMissing));
  if (text === undefined) {
    throw localFailure('local.file', `${path} has no receipt: there is no ${from}.`, {
      source: from,
      hint: 'Export it again with --receipt; molar export always writes receipts.',
    });
  }
  const receipt = jsonOf(text);
  if (isReceipt(receipt)) return receipt;
  throw localFailure('local.file', `${from} is not a receipt of molar.`, {
    source: from,
    hint: 'Export the file again.',
  });
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
  return writeWholeFile(receiptPath(path), `${JSON.stringify(receipt, null, 2)}\n`);
}

/** Removes the receipt of an older file, which would call the new one false; what is no receipt stays. */
export async function removeReceipt(path: string): Promise<void> {
  const from = receiptPath(path);
  const text = await guarded(`read ${from}`, () => readFile(from, 'utf8').catch(ignoreMissing));
  if (text !== undefined && isReceipt(jsonOf(text))) await guarded(`remove ${from}`, () => rm(from, { force: true }));
}

function exactId(id: string | null): number | string | null {
  return id !== null && Number.isSafeInteger(Number(id)) ? Number(id) : id;
}
