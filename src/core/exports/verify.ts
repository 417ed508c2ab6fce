import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { fileFailure } from '../failure.ts';
import { FORMATS, isFormat } from '../output/formats.ts';
import { type Receipt, readReceipt } from './receipt.ts';

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
    ...(rows === receipt.rows ? [] : [`it has ${rows} records, and ${receipt.rows} were exported`]),
    ...(hash.digest('hex') === receipt.sha256 ? [] : ['its content is not what was exported (sha256)']),
  ];
  return { receipt, problems };
}
