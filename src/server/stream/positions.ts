import { hash } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { bound, type Texts } from '../store/statement.ts';
import type { Reader } from '../store/store.ts';
import { EPOCH } from '../store/streamheads.ts';

/** A place in an organization's stream: behind its message with this number. */
export interface Position {
  /** Undefined in what says none: the number of a message, which earlier versions gave out, and which AMQP and NDJSON have. */
  readonly epoch: string | undefined;
  readonly number: number;
}

/** What an organization has of the stream, in its own numbers (D53). */
export interface Positions {
  /** Names the history that the numbers belong to: a restore or a failover gives the store another one. */
  readonly epoch: string;
  /** The highest number given; 0 before the first. */
  readonly newest: number;
  /** The highest number that was deleted: a reader below it has missed messages. */
  readonly floor: number;
}

/** Where a reader goes on; `requested`: it asked for another place, and has missed messages. */
export interface Start {
  readonly epoch: string;
  readonly after: number;
  readonly requested?: number;
}

/** A position as it is sent: `EPOCH-NUMBER`, opaque to whoever gets it (D53). */
export function positionText(epoch: string | undefined, number: number): string {
  return epoch === undefined ? String(number) : `${epoch}-${number}`;
}

/** What `positionText` has made, or the number of a message; undefined for anything else. */
export function readPosition(text: string): Position | undefined {
  const [, epoch, digits] = /^(?:([0-9a-f]{8})-)?(\d{1,16})$/.exec(text) ?? [];
  const number = Number(digits);
  return Number.isSafeInteger(number) ? { epoch, number } : undefined;
}

interface PositionsRow {
  readonly epoch: string;
  readonly seq: number | null;
  readonly floor: number | null;
}

const READ: Texts = { sql: readText(EPOCH.sql, '?'), text: readText(EPOCH.text, '$1') };

function readText(epoch: string, org: string): string {
  return `SELECT e.epoch, h.seq, h.floor FROM (SELECT ${epoch} AS epoch) AS e LEFT JOIN stream_heads h ON h.org = ${org}`;
}

export async function readPositions(read: Reader, org: number): Promise<Positions> {
  const row = await read.get<PositionsRow>(bound(READ, [org]));
  if (row === undefined) throw new Error('The store has no epoch.');
  // Says nothing of the database.
  return { epoch: hash('sha256', row.epoch, 'hex').slice(0, 8), newest: row.seq ?? 0, floor: row.floor ?? 0 };
}

/** Where a reader goes on that has missed messages; undefined: it has missed none. */
export function resumedAfter({ epoch, newest, floor }: Positions, at: Position): number | undefined {
  if (at.epoch !== epoch || at.number > newest) return newest;
  return at.number < floor ? floor : undefined;
}

/**
 * Where a reader begins that asks for a position. One without an epoch is taken for one of this epoch if the stream has
 * its message, or had it last; numbers that were lost with another history are never given again. Up to `shared` they were
 * those of all organizations, in an earlier version.
 */
export async function startAt(read: Reader, org: number, { epoch: asked, number }: Position): Promise<Start> {
  const positions = await readPositions(read, org);
  const { epoch, newest, floor } = positions;
  const missed = resumedAfter(positions, { epoch: asked ?? epoch, number });
  if (missed !== undefined) return { epoch, after: missed, requested: number };
  if (number === newest || number === floor || (await exists(read, org, number))) return { epoch, after: number };
  return { epoch, after: newest, requested: number };
}

async function exists(read: Reader, org: number, number: number): Promise<boolean> {
  const found = sql`SELECT 1 AS found FROM stream_messages WHERE org = ${org} AND seq = ${number}
    UNION ALL SELECT 1 AS found FROM stream_heads WHERE org = ${org} AND shared >= ${number}`;
  return (await read.get(found)) !== undefined;
}

/** What is known of an organization's head. */
export interface Head {
  readonly org: number;
  readonly seq: number;
  readonly floor: number;
  /** Where the numbers of its epoch began. */
  readonly base: number;
}

/** The heads of all organizations, or of some. */
export function readHeads(read: Reader, only: Sql = raw('true')): Promise<Head[]> {
  return read.all<Head>(sql`SELECT org, seq, floor, base FROM stream_heads WHERE ${only}`);
}

/** Messages of a head behind a number: those that its epoch left out are none. */
export function countBehind({ seq, floor, base }: Head, number: number): number {
  return Math.max(0, seq - Math.max(number, floor, base));
}
