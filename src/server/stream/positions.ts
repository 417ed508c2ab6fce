import sql from 'sql-template-tag';
import type { Reader } from '../store/store.ts';

/** What an organization has of the stream, in its own numbers (D53). */
export interface Positions {
  /** The highest number given; 0 before the first. */
  readonly newest: number;
  /** The highest number that may have been deleted: a reader below it has missed messages. */
  readonly floor: number;
}

/** The setting that holds the highest number, over all organizations, that may have been deleted. */
export const FLOOR = 'stream_floor';

interface PositionsRow {
  readonly seq: number;
  readonly shared: number;
  readonly oldest: number | null;
  readonly floor: string | null;
}

/**
 * Reads the positions of an organization. Its numbers follow each other, so what is missing before the oldest message was
 * deleted. Up to `shared` they are those that all organizations had in common, in an earlier version: there the floor of
 * the whole stream counts, so that a position from then is worth what it was.
 */
export async function readPositions(read: Reader, org: number): Promise<Positions> {
  const row = await read.get<PositionsRow>(
    sql`SELECT seq, shared, (SELECT MIN(seq) FROM stream_messages WHERE org = ${org}) AS oldest,
        (SELECT value FROM settings WHERE name = ${FLOOR}) AS floor
      FROM stream_heads WHERE org = ${org}`,
  );
  if (row === undefined) return { newest: 0, floor: 0 };
  const { seq: newest, shared, oldest } = row;
  const floor = (oldest ?? newest + 1) - 1;
  return { newest, floor: floor > shared ? floor : Math.min(Number(row.floor ?? 0), shared) };
}
