import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { utf8Chunks } from '../../text/stream.ts';
import type { Reader } from '../store/store.ts';
import type { LogProblem, NextMark } from './chain.ts';
import {
  type Checkpoint,
  checkpointDigest,
  checkpointPages,
  isSigned,
  type Link,
  lastCheckpoint,
  type Removed,
  readAnchor,
  restoreCheckpoints,
  signedRemoval,
} from './checkpoints.ts';
import type { PublicKeys } from './keys.ts';

/** What is known of the checkpoints of a store before they are read one by one. */
interface CheckpointRange {
  /** Number of the last one; 0 when there is none. */
  readonly last: number;
  /** What a genuine checkpoint says that retention has removed; of a store without any, what the store says itself. */
  readonly removed: Removed;
  /** Of the last restore: keys of checkpoints before need not be known. */
  readonly restored: Pick<Checkpoint, 'number' | 'at'> | undefined;
}

/** Reads that. Without `keys` every signature counts as genuine. */
export async function readRange(read: Reader, keys: PublicKeys | undefined): Promise<CheckpointRange> {
  const isGenuine = (checkpoint: Checkpoint) => keys === undefined || isSigned(checkpoint, keys) === true;
  const last = await lastCheckpoint(read);
  if (last === undefined)
    return { last: 0, removed: { ...(await readAnchor(read)), checkpoints: 0 }, restored: undefined };
  const restored = (await restoreCheckpoints(read)).find(isGenuine);
  const removed = await signedRemoval(read, keys);
  return { last: last.number, removed: removed ?? { id: 0, hash: '', checkpoints: 0 }, restored };
}

/** The checkpoints of a store one by one: signatures, and that each follows the one before. Only genuine ones come out. */
export class SignedCheckpoints {
  readonly problems: LogProblem[] = [];
  count = 0;
  /** SHA-256 of each line by its number, where they are to be compared with others. */
  readonly digests = new Map<number, string>();
  private readonly unknown = new Set<string>();
  private readonly rows: AsyncGenerator<Checkpoint>;
  private before: { readonly number: number; readonly digest: string | undefined };

  constructor(
    read: Reader,
    private readonly keys: PublicKeys | undefined,
    private readonly range: CheckpointRange,
    private readonly comparing: boolean,
  ) {
    const { checkpoints } = range.removed;
    this.before = { number: checkpoints, digest: checkpoints === 0 ? '' : undefined };
    this.rows = rowsOf(read, checkpoints, range.last);
  }

  /** The next genuine one. */
  readonly next: NextMark = async () => {
    for (;;) {
      const { value, done } = await this.rows.next();
      if (done) return undefined;
      if (this.check(value)) return value;
    }
  };

  private check(checkpoint: Checkpoint): boolean {
    const { number, previous } = checkpoint;
    this.count++;
    const digest = checkpointDigest(checkpoint);
    if (this.comparing) this.digests.set(number, digest);
    const { before } = this;
    if (number !== before.number + 1) {
      const last = number - 1;
      this.report(before.number + 1, before.number + 1 === last ? 'is missing' : `to ${last} are missing`);
    }
    const follows = number !== before.number + 1 || before.digest === undefined || before.digest === previous;
    const signed = this.isSigned(checkpoint);
    if (signed && !follows)
      this.report(number, 'does not follow the one before it, which was put in the place of another');
    // What follows an altered one disagrees with it: that is said already.
    this.before = { number, digest: signed ? digest : undefined };
    return signed && follows;
  }

  private isSigned(checkpoint: Checkpoint): boolean {
    const { number, key } = checkpoint;
    const signed = this.keys === undefined || isSigned(checkpoint, this.keys);
    if (signed === false) this.report(number, 'was changed after it was signed');
    if (signed !== undefined) return signed;
    if (number < (this.range.restored?.number ?? 0)) return true;
    if (!this.unknown.has(key))
      this.report(number, `was signed with the key ${key}, which is none of those given as --audit-key`);
    this.unknown.add(key);
    return false;
  }

  private report(id: number, problem: string): void {
    this.problems.push({ code: 'audit.checkpoint', kind: 'checkpoint', id, problem });
  }
}

async function* rowsOf(read: Reader, after: number, upTo: number): AsyncGenerator<Checkpoint> {
  for await (const page of checkpointPages(read, { after, upTo })) yield* page;
}

/** The entry before the first one that is kept. */
export function floorOf({ removed: { id, hash } }: CheckpointRange): Link {
  return { id, hash };
}

/** What shipped checkpoints are compared with. */
interface Stored {
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
  const input = Readable.from(utf8Chunks(createReadStream(file)));
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
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
