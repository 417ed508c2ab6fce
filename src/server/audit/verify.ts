import sql from 'sql-template-tag';
import { damageOf } from '../maintenance/damage.ts';
import type { Reader } from '../store/store.ts';
import { ChainWalk, type LogProblem, MAX_PROBLEMS } from './chain.ts';
import type { Link } from './checkpoints.ts';
import { auditPages } from './export.ts';
import { IndexCheck } from './indexcheck.ts';
import type { PublicKeys } from './keys.ts';
import { shippedToFiles } from './shipper.ts';
import { compareShipped, floorOf, readRange, SignedCheckpoints } from './signatures.ts';
import { FILE_TARGET } from './targets.ts';

/** The outcome of a verification. */
export interface LogReport {
  readonly entries: number;
  /** Numbers of the first and the last entry; null when there are none. */
  readonly first: number | null;
  readonly last: number | null;
  /** `ID:HASH` of the end: stored elsewhere it proves later that nothing up to here was changed. */
  readonly head: string;
  /** How many checkpoints there are. */
  readonly checkpoints: number;
  /** The first bad entry first. */
  readonly problems: readonly LogProblem[];
}

/** What a log is verified with. */
export interface Evidence {
  /** Of everybody who may have signed; without them only the hashes are compared. */
  readonly keys?: PublicKeys | undefined;
  /** A file of shipped checkpoints. */
  readonly shipped?: string | undefined;
  /** An end that was recorded earlier and must still be part of the log. */
  readonly expected?: Link | undefined;
}

/**
 * Verifies the complete audit log: numbers and hashes of its entries, its head, the index of patients, its checkpoints and
 * what was shipped of them (contract §8). Its memory does not depend on the entries.
 */
export async function verifyLog(read: Reader, evidence: Evidence = {}): Promise<LogReport> {
  try {
    for (;;) {
      const floor = floorOf(await readRange(read, evidence.keys));
      const report = await verifyOnce(read, evidence);
      // What retention deleted meanwhile is no damage.
      if (report.problems.length === 0 || floorOf(await readRange(read, evidence.keys)).id === floor.id) return report;
    }
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    const problem = `cannot be read, or what leads to it cannot: ${damage}`;
    const problems: LogProblem[] = [{ code: 'audit.altered', kind: 'head', id: null, problem }];
    return { entries: 0, first: null, last: null, head: '', checkpoints: 0, problems };
  }
}

async function verifyOnce(read: Reader, { keys, shipped, expected }: Evidence): Promise<LogReport> {
  // Checkpoints before the head and the head before the entries, so that what is written meanwhile is ignored.
  const shippedTo = (await shippedToFiles(read, FILE_TARGET)) ?? Number.POSITIVE_INFINITY;
  const range = await readRange(read, keys);
  const found = await headOf(read);
  const head = found ?? { id: 0, hash: '' };
  const signed = new SignedCheckpoints(read, keys, range, shipped !== undefined);
  const walk = new ChainWalk(floorOf(range), signed.next, expected);
  const index = new IndexCheck(read);
  let last: number | null = null;
  for await (const page of auditPages(read, { after: Number.MIN_SAFE_INTEGER })) {
    for (const row of page) {
      if (row.id > head.id) break;
      last = row.id;
      await walk.next(row);
      await index.next(row);
    }
    if ((page.at(-1)?.id ?? 0) > head.id) break;
  }
  await walk.compareHead(head);
  // The index follows from the entries: where those are not whole it cannot agree with them.
  const indexed = walk.problems.length > 0 ? [] : await index.finish(head.id);
  const problems = [...walk.problems, ...(await aboveHead(read)), ...signed.problems];
  if (found === undefined) problems.push(HEADLESS);
  if (keys !== undefined && keys.size > 0 && range.last === 0 && head.id > 0) problems.push(UNSIGNED);
  if (shipped !== undefined && keys !== undefined) {
    problems.push(...(await compareShipped(shipped, { keys, range, digests: signed.digests, shipped: shippedTo })));
  }
  const { entries, first } = walk;
  const ordered = [...problems.sort((a, b) => rank(a) - rank(b)), ...indexed].slice(0, MAX_PROBLEMS);
  return { entries, first, last, head: `${head.id}:${head.hash}`, checkpoints: signed.count, problems: ordered };
}

const UNSIGNED: LogProblem = {
  ...{ code: 'audit.checkpoint', kind: 'head', id: null },
  problem: 'has no checkpoint, although there is a key: they were removed, or no server was ever started on the data',
};

const HEADLESS: LogProblem = {
  ...{ code: 'audit.missing', kind: 'head', id: null },
  problem: 'is missing, so that no entry counts as one',
};

/** Entries come first, in the order of their numbers. */
function rank({ kind, id }: LogProblem): number {
  return kind === 'entry' ? (id ?? 0) : Number.MAX_SAFE_INTEGER;
}

/** Rows behind the end of the log, and those that were moved out of its way. */
async function aboveHead(read: Reader): Promise<readonly LogProblem[]> {
  const rows = await read.all<{ id: number; moved: number }>(sql`
    SELECT CASE WHEN e.id > ${Number.MAX_SAFE_INTEGER} THEN ${Number.MAX_SAFE_INTEGER} ELSE e.id END AS id, 0 AS moved FROM audit_entries e, log_heads h WHERE h.name = 'audit' AND e.id > h.last_id
    UNION ALL SELECT id, 1 FROM audit_strays ORDER BY id LIMIT ${MAX_PROBLEMS}`);
  return rows.map(({ id, moved }) => ({
    ...{ code: 'audit.above-head', kind: 'entry', id },
    problem: moved
      ? 'had been written by somebody else before its turn; that row is in audit_strays'
      : 'stands behind the end of the log: molar did not write it',
  }));
}

/** The end of the chain as its head records it; a log has one from the beginning. */
function headOf(read: Reader): Promise<Link | undefined> {
  return read.get<Link>(sql`SELECT last_id AS id, hash FROM log_heads WHERE name = 'audit'`);
}
