import { readFile, rename } from 'node:fs/promises';
import { extname } from 'node:path';
import { codeOf, Failure, fileFailure, usageFailure } from '../../failure.ts';
import { openAtomicFile } from '../../output/atomicfile.ts';
import { readManifest } from './manifest.ts';
import { formatResults, type ResultRow } from './results.ts';
import type { UploadLedger } from './uploadall.ts';
import type { Uploaded } from './uploadfile.ts';
import { type EarlierOutcome, rowKey, type UploadRow } from './uploadrow.ts';

/** Milliseconds between two writings of the file while a run goes on. */
const INTERVAL = 1000;

/**
 * The results CSV of a run. It is whole at any moment: all rows, each with what is known of it so far, replaced at most
 * once a second; rows that were not told yet stand as pending, and a run with it looks on the server first.
 */
export class ResultsFile implements UploadLedger {
  private readonly path: string;
  private readonly results: ResultRow[];
  private readonly now: () => number;
  private written = Number.NEGATIVE_INFINITY;
  private writing: Promise<void> = Promise.resolve();

  constructor(path: string, results: readonly ResultRow[], now: () => number) {
    this.path = path;
    this.results = [...results];
    this.now = now;
  }

  async settled(index: number, { outcome }: Uploaded): Promise<void> {
    const result = this.results[index];
    if (result !== undefined) this.results[index] = { row: result.row, outcome };
    if (this.now() - this.written >= INTERVAL) await this.write();
  }

  /** Writes all rows as they stand. Throws a Failure with exit code 9 when the file cannot be written. */
  async write(): Promise<void> {
    this.written = this.now();
    // One writing after another: they share the name of the part file.
    const turn = this.writing.catch(() => undefined).then(() => this.replace());
    this.writing = turn;
    await turn;
  }

  private async replace(): Promise<void> {
    const file = await openAtomicFile(this.path);
    try {
      await file.write(formatResults(this.results));
      await file.commit();
    } catch (cause) {
      await file.abort();
      throw cause;
    }
  }
}

/** Rows of the results CSV that stands at a path, none where there is no file. Exit code 2 when it is another file. */
export async function readEarlierResults(path: string, label: string): Promise<readonly UploadRow[]> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw fileFailure(`read ${label}`, cause);
  });
  if (bytes === undefined || bytes.length === 0) return [];
  try {
    const rows = readManifest(bytes, label);
    if (rows.every(({ earlier }) => earlier !== undefined)) return rows;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
  throw usageFailure(`${label} exists and is not a results file; it would be overwritten.`, {
    source: '--results',
    hint: 'Name another file with --results.',
  });
}

/**
 * Gives rows what an earlier run noted about them. It is a hint where to look, not proof: the file may have changed
 * since, so a row noted as done is looked for on the server with its content.
 */
export function withEarlier(rows: readonly UploadRow[], results: readonly UploadRow[]): UploadRow[] {
  const known = new Map(results.map((row) => [rowKey(row), row.earlier]));
  return rows.map((row) => {
    const earlier = known.get(rowKey(row));
    if (row.earlier !== undefined || earlier === undefined) return row;
    const hint: EarlierOutcome = earlier.status === 'done' ? { ...earlier, status: 'unknown' } : earlier;
    return { ...row, earlier: hint };
  });
}

/**
 * Moves earlier results aside when they hold files that are not done and not part of this run, which would be forgotten
 * otherwise. Gives the new name and the number of those files.
 */
export async function keepUnfinished(
  path: string,
  results: readonly UploadRow[],
  rows: readonly UploadRow[],
): Promise<{ readonly path: string; readonly files: number } | undefined> {
  const mine = new Set(rows.map(rowKey));
  const files = results.filter((row) => row.earlier?.status !== 'done' && !mine.has(rowKey(row))).length;
  // A single file that failed was seen to fail; only a batch can be forgotten.
  if (files === 0 || results.length === 1) return undefined;
  const extension = extname(path);
  for (let number = 1; ; number++) {
    const aside = `${path.slice(0, path.length - extension.length)}.${number}${extension}`;
    if (await exists(aside)) continue;
    await rename(path, aside).catch((cause: unknown) => {
      throw fileFailure(`rename ${path}`, cause);
    });
    return { path: aside, files };
  }
}

async function exists(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    (cause: unknown) => codeOf(cause) !== 'ENOENT',
  );
}
