import sql from 'sql-template-tag';
import type { Reader, Store } from '../../store/store.ts';
import { readFloor } from '../retention.ts';
import type { RelayTarget } from './broker.ts';

/** How far a target has everything; where nothing is noted yet, right before the oldest message kept. */
export async function readPosition(read: Reader, target: RelayTarget): Promise<number> {
  const row = await read.get<{ value: string }>(sql`SELECT value FROM settings WHERE name = ${nameOf(target)}`);
  return row == null ? readFloor(read) : Number(row.value);
}

/**
 * Notes where a target stands, unless that is noted: servers that take over from each other must not begin where the
 * oldest message is by then, or what was deleted in between would not be told.
 */
export async function noteFirstPosition(store: Store, target: RelayTarget, position: number): Promise<void> {
  await store.write((tx) =>
    tx.run(
      sql`INSERT INTO settings (name, value) VALUES (${nameOf(target)}, ${String(position)}) ON CONFLICT DO NOTHING`,
    ),
  );
}

export async function writePosition(store: Store, target: RelayTarget, position: number): Promise<void> {
  await store.write((tx) =>
    tx.run(sql`INSERT INTO settings (name, value) VALUES (${nameOf(target)}, ${String(position)})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`),
  );
}

/** What a target is known by in the store. */
export function nameOf({ name, exchange }: RelayTarget): string {
  return `relay ${name} ${exchange}`;
}
