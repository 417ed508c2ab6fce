import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import type { Reader, Store } from '../store/store.ts';

/** Days that messages are kept when nothing else is said. */
export const DEFAULT_RETENTION_DAYS = 7;

export const DAY_MS = 24 * 60 * 60 * 1000;

const FLOOR = 'stream_floor';

/** Numbers deleted in one write, so that other writes do not wait long. */
const CHUNK = 1000;

/** The highest number that may have been deleted: whoever has read less than that has missed something. */
export async function readFloor(read: Reader): Promise<number> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${FLOOR}`);
  return Number(row?.value ?? 0);
}

/**
 * Deletes messages older than `keptMs`, oldest first. `raise` is told of each new floor before anything up to it is
 * deleted, so that no reader can take a hole for the end. Stops early when `signal` is aborted.
 */
export async function deleteOldMessages(
  store: Store,
  clock: Clock,
  keptMs: number,
  raise: (floor: number) => void,
  signal?: AbortSignal,
): Promise<void> {
  const cutoff = new Date(clock() - keptMs).toISOString();
  while (!signal?.aborted) {
    const { old } = (await store.read.get<{ old: number | null }>(
      sql`SELECT MAX(id) AS old FROM (SELECT id, sent_at FROM stream_messages ORDER BY id LIMIT ${CHUNK}) AS first
        WHERE sent_at < ${cutoff}`,
    )) as { old: number | null };
    if (old === null) return;
    raise(old);
    await store.write(async (tx) => {
      await tx.run(sql`INSERT INTO settings (name, value) VALUES (${FLOOR}, ${String(old)})
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
      await tx.run(sql`DELETE FROM stream_messages WHERE id <= ${old}`);
    });
  }
}
