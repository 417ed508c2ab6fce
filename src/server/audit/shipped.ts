import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { LogProblem } from './chain.ts';
import { type Checkpoint, checkpointDigest, isSigned } from './checkpoints.ts';
import type { PublicKeys } from './keys.ts';
import type { CheckpointRange } from './signatures.ts';

/** What shipped checkpoints are compared with. */
export interface Stored {
  readonly keys: PublicKeys;
  readonly range: CheckpointRange;
  /** SHA-256 of the lines of the store's checkpoints by their numbers. */
  readonly digests: ReadonlyMap<number, string>;
  /** Up to which number files have been given all of them. */
  readonly shipped: number;
}

/** Compares a file of shipped checkpoints with those of the store: each must have what the other has. */
export async function compareShipped(file: string, stored: Stored): Promise<readonly LogProblem[]> {
  const { range, digests } = stored;
  const found: LogProblem[] = [];
  const seen = new Set<number>();
  const lacking: Checkpoint[] = [];
  let restoredAt = range.restored?.at ?? '';
  let last = 0;
  const unknown = new Set<string>();
  const report = (code: LogProblem['code'], id: number, problem: string) =>
    void found.push({ code, kind: 'checkpoint', id, problem });
  for await (const line of linesOf(file)) {
    const checkpoint = parse(line);
    if (checkpoint === undefined) {
      report('audit.checkpoint', last + 1, 'of the file cannot be read');
      continue;
    }
    const { number, key } = checkpoint;
    seen.add(number);
    last = number;
    const digest = checkpointDigest(checkpoint);
    if (digests.get(number) === digest) continue;
    const signed = isSigned(checkpoint, stored.keys);
    if (signed === false) report('audit.checkpoint', number, 'of the file was changed after it was signed');
    else if (signed === undefined && checkpoint.at >= (range.restored?.at ?? '')) {
      if (!unknown.has(key)) {
        report(
          'audit.checkpoint',
          number,
          `of the file was signed with the key ${key}, which is none of those given as --audit-key`,
        );
      }
      unknown.add(key);
    } else if (number > range.removed.checkpoints) lacking.push(checkpoint);
    else if (checkpoint.reason === 'restore' && checkpoint.at > restoredAt) restoredAt = checkpoint.at;
  }
  // What a restore has left behind is not what it goes on with.
  const lost = lacking.filter(({ at }) => at >= restoredAt).sort((a, b) => a.number - b.number);
  const [first] = lost;
  if (first !== undefined) {
    const more = lost.length === 1 ? '' : `, and ${lost.length - 1} more,`;
    report(
      'audit.rolled-back',
      first.number,
      `was shipped${more} and is not in the database, which is older, or another`,
    );
  }
  const short = [...digests.keys()].filter((number) => number <= stored.shipped && !seen.has(number));
  if (short[0] !== undefined) {
    const rest = short.length === 1 ? 'is' : `and ${short.length - 1} more are`;
    report('audit.shortened', short[0], `${rest} in the database, and not in the file`);
  }
  return found;
}

/** Whole lines that are not empty. One that was cut short by a crash, and stands whole behind itself, is passed. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let before: string | undefined;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (before !== undefined && !line.startsWith(before)) yield before;
    before = line === '' ? undefined : line;
  }
  if (before !== undefined) yield before;
}

function parse(line: string): Checkpoint | undefined {
  try {
    const found = JSON.parse(line) as Partial<Checkpoint>;
    const texts = [found.at, found.hash, found.reason, found.previous, found.key, found.signature];
    if (!Number.isSafeInteger(found.number) || texts.some((text) => typeof text !== 'string')) return undefined;
    return found as Checkpoint;
  } catch {
    return undefined;
  }
}
