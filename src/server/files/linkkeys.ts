import { hkdfSync, randomBytes } from 'node:crypto';
import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import type { Reader, Store, Transaction } from '../store/store.ts';

/** How long a download link is valid (D38). */
export const LINK_SECONDS = 15 * 60;

/** How far the clocks of servers may differ. */
export const CLOCK_SECONDS = 60;

/** A key of download links as `server keys list` shows it; `endsAt` is null for the one that signs new links. UTC. */
export interface KeyListing {
  readonly id: string;
  readonly createdAt: string;
  readonly endsAt: string | null;
}

/** A key as links are made and read with it. */
export interface LinkKey {
  readonly id: string;
  /** Signs links. */
  readonly sign: Buffer;
  /** Encrypts who a link was given to. */
  readonly seal: Buffer;
}

interface KeyRow {
  readonly id: string;
  readonly secret: string;
}

/** Time until a rotation in another process is seen: links are signed by the key that was the current one before. */
const REFRESH_MS = 2000;

/** The keys of a store's download links (D38, D57). */
export class LinkKeys {
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private signing: LinkKey,
  ) {}

  /** Opens the keys of a store; makes one where none signs. */
  static async open(store: Store, clock: Clock): Promise<LinkKeys> {
    return new LinkKeys(store, clock, await signingKey(store, clock));
  }

  /** The key that signs new links. */
  get current(): LinkKey {
    return this.signing;
  }

  /** The key of a link by its id, as the store has it now; undefined for one that is unknown or has ended. */
  async find(id: string): Promise<LinkKey | undefined> {
    const now = new Date(this.clock()).toISOString();
    const row = await this.store.read.get<KeyRow>(
      sql`SELECT id, secret FROM link_keys WHERE id = ${id} AND (ends_at IS NULL OR ends_at > ${now})`,
    );
    return row && toKey(row);
  }

  /** Follows rotations by other processes, until `close`. A store that does not respond is asked again. */
  follow(): void {
    const refresh = async () => {
      this.signing = await signingKey(this.store, this.clock);
    };
    this.timer ??= setInterval(() => void refresh().catch(() => undefined), REFRESH_MS).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }
}

/** All keys, the one that signs first. */
export async function listKeys(read: Reader): Promise<KeyListing[]> {
  const rows = await read.all<{ id: string; created_at: string; ends_at: string | null }>(
    sql`SELECT id, created_at, ends_at FROM link_keys ORDER BY ends_at IS NOT NULL, created_at DESC, id`,
  );
  return rows.map(({ id, created_at, ends_at }) => ({ id, createdAt: created_at, endsAt: ends_at }));
}

/**
 * Makes a new key and returns its id. Links of the earlier one are good to their own end; none is with `atOnce`.
 * `now`: UTC milliseconds.
 */
export async function rotateKeys(tx: Transaction, now: number, atOnce: boolean): Promise<string> {
  const at = new Date(now).toISOString();
  // A running server may sign with the earlier key for some seconds more.
  const endsAt = atOnce ? at : new Date(now + (LINK_SECONDS + CLOCK_SECONDS) * 1000).toISOString();
  await tx.run(sql`DELETE FROM link_keys WHERE ends_at <= ${at}`);
  await tx.run(sql`UPDATE link_keys SET ends_at = ${endsAt} WHERE ends_at IS NULL OR ends_at > ${endsAt}`);
  return makeKey(tx, at);
}

async function signingKey(store: Store, clock: Clock): Promise<LinkKey> {
  const found = await currentRow(store.read);
  if (found !== undefined) return toKey(found);
  return store.write(async (tx) => {
    // Another process may have made one meanwhile. Where two do at the same time, both keys are good.
    if ((await currentRow(tx)) === undefined) await makeKey(tx, new Date(clock()).toISOString());
    return toKey((await currentRow(tx)) as KeyRow);
  });
}

function currentRow(read: Reader): Promise<KeyRow | undefined> {
  return read.get<KeyRow>(
    sql`SELECT id, secret FROM link_keys WHERE ends_at IS NULL ORDER BY created_at DESC, id LIMIT 1`,
  );
}

async function makeKey(tx: Transaction, createdAt: string): Promise<string> {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('base64');
  await tx.run(sql`INSERT INTO link_keys (id, secret, created_at) VALUES (${id}, ${secret}, ${createdAt})`);
  return id;
}

function toKey({ id, secret }: KeyRow): LinkKey {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'base64'), '', purpose, 32));
  return { id, sign: derive('molar link signature'), seal: derive('molar link holder') };
}
