import { createHash, sign } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Checkpoint } from '../../../src/server/audit/checkpoints.ts';
import { type AuditKey, openAuditKey } from '../../../src/server/audit/keys.ts';
import type { Reader } from '../../../src/server/store/store.ts';

/** Checkpoint N is of day N. */
export const day = (n: number) => `2026-03-${String(n).padStart(2, '0')}T12:00:00.000Z`;

export const lineOf = (checkpoint: Checkpoint) => JSON.stringify(checkpoint);
export const digestOf = (checkpoint: Checkpoint) => createHash('sha256').update(lineOf(checkpoint)).digest('hex');

/** Two keys in a folder of their own for the tests of a file, and checkpoints signed with the first where no other is named. */
export function signingKeys() {
  const keys = {} as { folder: string; key: AuditKey; other: AuditKey };
  beforeAll(async () => {
    keys.folder = await mkdtemp(join(tmpdir(), 'molar-signatures-'));
    keys.key = await openAuditKey(join(keys.folder, 'audit.key'));
    keys.other = await openAuditKey(join(keys.folder, 'other.key'));
  });
  afterAll(() => rm(keys.folder, { recursive: true }));

  const signed = (number: number, more: Partial<Checkpoint> = {}, by = keys.key): Checkpoint => {
    const first = { number, at: day(number), id: number * 10, hash: `hash ${number}`, entries: number * 10 };
    const said = { ...first, reason: 'minute' as const, removed: null, previous: '', key: by.id, ...more };
    return { ...said, signature: sign(null, Buffer.from(JSON.stringify(said)), by.secret).toString('base64') };
  };
  /** Checkpoints that follow each other. */
  const row = (count: number, by?: AuditKey): Checkpoint[] => {
    const made: Checkpoint[] = [];
    for (let number = 1; number <= count; number++) {
      const before = made.at(-1);
      made.push(signed(number, { previous: before === undefined ? '' : digestOf(before) }, by));
    }
    return made;
  };
  return Object.assign(keys, { signed, row });
}

/** A store that has these checkpoints and nothing else. */
export function storeOf(checkpoints: readonly Checkpoint[]): Reader {
  const rows = checkpoints.map(({ removed, ...rest }) => ({
    ...rest,
    removed_id: removed?.id ?? 0,
    removed_hash: removed?.hash ?? '',
    removed_checkpoints: removed?.checkpoints ?? 0,
  }));
  const backwards = rows.toReversed();
  const all = async ({ sql, values }: { readonly sql: string; readonly values: readonly unknown[] }) => {
    if (sql.includes("'restore'")) return backwards.filter(({ reason }) => reason === 'restore');
    const [after, upTo] = values as readonly [number, number];
    return (sql.includes('DESC') ? backwards : rows).filter(({ number }) => number > after && number <= upTo);
  };
  const get = async ({ sql }: { readonly sql: string }) =>
    sql.includes('audit_checkpoints') ? backwards[0] : { value: '7:hash of 7' };
  return { all, get } as unknown as Reader;
}
