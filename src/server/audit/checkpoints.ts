import { hash, sign, verify } from 'node:crypto';
import sql from 'sql-template-tag';
import type { Reader, Transaction } from '../store/store.ts';
import type { AuditKey, PublicKeys } from './keys.ts';

/** A link of the chain: the number of an entry and its hash. */
export interface Link {
  readonly id: number;
  readonly hash: string;
}

/** What retention has removed: entries and checkpoints up to these numbers; the hash is that of the last entry. */
export interface Removed extends Link {
  readonly checkpoints: number;
}

/** Why a checkpoint was written. After `restore` the keys of before are not needed for what is newer. */
export type CheckpointReason = 'start' | 'minute' | 'stop' | 'retention' | 'verify' | 'restore';

/** A signed statement: at this time the log ended with this entry (contract §8). Checkpoints count up by 1. */
export interface Checkpoint extends Link {
  readonly number: number;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
  /** How many entries the log had. */
  readonly entries: number;
  readonly reason: CheckpointReason;
  readonly removed: Removed | null;
  /** SHA-256 of the line of the checkpoint before; empty for the first. */
  readonly previous: string;
  /** Id of the key. */
  readonly key: string;
  /** Ed25519 over the line without this member, in Base64. */
  readonly signature: string;
}

interface CheckpointRow extends Omit<Checkpoint, 'removed' | 'reason'> {
  readonly reason: string;
  readonly removed_id: number;
  readonly removed_hash: string;
  readonly removed_checkpoints: number;
}

/** The setting that held the last entry that retention had deleted, before checkpoints did. */
const ANCHOR = 'audit_anchor';

/** What names the position of a target of shipping among the settings. */
export const SHIPPED = 'audit_shipped ';

/** The line of a checkpoint, as it is shipped and signed: its members in this order, without spaces. */
export function checkpointLine(checkpoint: Checkpoint): string {
  return JSON.stringify({ ...statement(checkpoint), signature: checkpoint.signature });
}

/** What a checkpoint after this one has as `previous`. */
export function checkpointDigest(checkpoint: Checkpoint): string {
  return hash('sha256', checkpointLine(checkpoint), 'hex');
}

function statement(checkpoint: Omit<Checkpoint, 'signature'>): Omit<Checkpoint, 'signature'> {
  const { number, at, id, hash, entries, reason, removed, previous, key } = checkpoint;
  const gone = removed && { id: removed.id, hash: removed.hash, checkpoints: removed.checkpoints };
  return { number, at, id, hash, entries, reason, removed: gone, previous, key };
}

/** Whether a checkpoint was signed with one of the keys; undefined when its key is not among them. */
export function isSigned(checkpoint: Checkpoint, keys: PublicKeys): boolean | undefined {
  const key = keys.get(checkpoint.key);
  if (key === undefined) return undefined;
  const signed = Buffer.from(JSON.stringify(statement(checkpoint)));
  return verify(null, signed, key, Buffer.from(checkpoint.signature, 'base64'));
}

/** What a new checkpoint is written with. */
export interface Signing {
  readonly key: AuditKey;
  /** UTC milliseconds. */
  readonly now: number;
  readonly reason: CheckpointReason;
  /** The last one that this process knows of: should the store have lost it, the gap is left to be seen. */
  readonly seen?: Checkpoint | undefined;
  /** The last entry that the same transaction removes; checkpoints about entries before it go, too. */
  readonly removing?: Link;
}

/** Signs and stores a checkpoint about the entries that are committed. Undefined when there is nothing new to sign. */
export async function appendCheckpoint(tx: Transaction, signing: Signing): Promise<Checkpoint | undefined> {
  const { key, now, reason, seen, removing } = signing;
  const head = await lockHead(tx);
  const stored = await lastCheckpoint(tx);
  const before = seen !== undefined && seen.number > (stored?.number ?? 0) ? seen : stored;
  if (removing === undefined && reason !== 'restore' && before?.id === head.id && before.hash === head.hash) return;
  const gone = await removedBefore(tx, before, signing);
  const removed = removing === undefined ? gone : await remove(tx, removing, key.own, gone?.checkpoints ?? 0);
  const made = statement({
    number: (before?.number ?? 0) + 1,
    at: new Date(now).toISOString(),
    ...head,
    entries: head.id - (removed?.id ?? 0),
    reason,
    removed,
    previous: before === undefined ? '' : checkpointDigest(before),
    key: key.id,
  });
  const signature = sign(null, Buffer.from(JSON.stringify(made)), key.secret).toString('base64');
  await tx.run(sql`INSERT INTO audit_checkpoints
    (number, at, id, hash, entries, reason, removed_id, removed_hash, removed_checkpoints, previous, key, signature)
    VALUES (${made.number}, ${made.at}, ${made.id}, ${made.hash}, ${made.entries}, ${reason}, ${removed?.id ?? 0},
      ${removed?.hash ?? ''}, ${removed?.checkpoints ?? 0}, ${made.previous}, ${made.key}, ${signature})`);
  return { ...made, signature };
}

/** The end of the log, which nobody moves until the transaction ends: an update, since not every store locks by reading. */
async function lockHead(tx: Transaction): Promise<Link> {
  const row = await tx.get<{ last_id: number; hash: string }>(
    sql`UPDATE log_heads SET last_id = last_id WHERE name = 'audit' RETURNING last_id, hash`,
  );
  if (row === undefined) throw new Error('The log audit has no head.');
  return { id: row.last_id, hash: row.hash };
}

/**
 * What retention had removed before. The first checkpoint takes over what was written before there were any, but only
 * with a key of its own: else whoever removes all checkpoints could say where the log is to begin. A restore vouches for
 * what it found; every other one only for what was signed.
 */
async function removedBefore(
  read: Reader,
  before: Checkpoint | undefined,
  { key, reason }: Signing,
): Promise<Removed | null> {
  if (before === undefined) {
    const anchor = key.made ? await readAnchor(read) : undefined;
    return anchor === undefined || anchor.id === 0 ? null : { ...anchor, checkpoints: 0 };
  }
  if (reason === 'restore' || (before.key === key.id && isSigned(before, key.own))) return before.removed;
  return signedRemoval(read, key.own, (checkpoint) => checkpoint.key === key.id);
}

/**
 * What retention has removed, as genuine checkpoints say it; without `keys` every one counts as genuine. `until`: those
 * before such a one say nothing more.
 */
export async function signedRemoval(
  read: Reader,
  keys: PublicKeys | undefined,
  until: (checkpoint: Checkpoint) => boolean = () => false,
): Promise<Removed | null> {
  let found: Removed | null = null;
  for await (const page of checkpointPages(read, { backwards: true })) {
    for (const checkpoint of page) {
      const { removed } = checkpoint;
      const says = removed !== null && removed.id > (found?.id ?? 0);
      const isLast = until(checkpoint);
      if (!(says || isLast) || (keys !== undefined && !isSigned(checkpoint, keys))) continue;
      if (says) found = removed;
      if (isLast) return found;
    }
  }
  return found;
}

/** `earlier`: up to which number checkpoints were removed so far; that never goes back. */
async function remove(tx: Transaction, last: Link, keys: PublicKeys, earlier: number): Promise<Removed> {
  // What is still to be shipped stays until it is.
  const positions = await tx.all<{ value: string }>(sql`SELECT value FROM settings WHERE name LIKE ${`${SHIPPED}%`}`);
  const upTo = Math.min(...positions.map(({ value }) => Number(value)));
  const checkpoints = Math.max(earlier, Math.min(await lastAbout(tx, last.id, keys), upTo));
  await tx.run(sql`DELETE FROM audit_checkpoints WHERE number <= ${checkpoints}`);
  return { ...last, checkpoints };
}

/** Up to which number all checkpoints are genuine and about entries before another: what nobody signed proves nothing. */
async function lastAbout(read: Reader, before: number, keys: PublicKeys): Promise<number> {
  let last = 0;
  for await (const page of checkpointPages(read, {})) {
    for (const checkpoint of page) {
      if (checkpoint.id >= before || !isSigned(checkpoint, keys)) return last;
      last = checkpoint.number;
    }
  }
  return last;
}

/** Where the stored part of a log began that has no checkpoint yet. */
export async function readAnchor(read: Reader): Promise<Link> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${ANCHOR}`);
  const [id = '0', hash = ''] = row?.value.split(':') ?? [];
  return { id: Number(id), hash };
}

/** The last checkpoint; undefined when there is none. */
export async function lastCheckpoint(read: Reader): Promise<Checkpoint | undefined> {
  const row = await read.get<CheckpointRow>(sql`SELECT * FROM audit_checkpoints ORDER BY number DESC LIMIT 1`);
  return row && fromRow(row);
}

/** The checkpoints that a restore wrote, newest first. */
export async function restoreCheckpoints(read: Reader): Promise<readonly Checkpoint[]> {
  const rows = await read.all<CheckpointRow>(
    sql`SELECT * FROM audit_checkpoints WHERE reason = 'restore' ORDER BY number DESC`,
  );
  return rows.map(fromRow);
}

const PAGE = 1000;

/** Checkpoints behind a number, up to another, page by page: in the order of their numbers, or against it. */
export async function* checkpointPages(
  read: Reader,
  { after = 0, upTo = Number.MAX_SAFE_INTEGER, backwards = false },
): AsyncGenerator<readonly Checkpoint[]> {
  for (let [low, high] = [after, upTo]; ; ) {
    const within = sql`SELECT * FROM audit_checkpoints WHERE number > ${low} AND number <= ${high}`;
    const rows = await read.all<CheckpointRow>(
      backwards ? sql`${within} ORDER BY number DESC LIMIT ${PAGE}` : sql`${within} ORDER BY number LIMIT ${PAGE}`,
    );
    if (rows.length > 0) yield rows.map(fromRow);
    if (rows.length < PAGE) return;
    const last = rows.at(-1)?.number ?? 0;
    if (backwards) high = last - 1;
    else low = last;
  }
}

function fromRow(row: CheckpointRow): Checkpoint {
  const { removed_id, removed_hash, removed_checkpoints, number, at, id, hash, entries, previous, key } = row;
  const removed = removed_id === 0 ? null : { id: removed_id, hash: removed_hash, checkpoints: removed_checkpoints };
  const reason = row.reason as CheckpointReason;
  return { number, at, id, hash, entries, reason, removed, previous, key, signature: row.signature };
}
