import sql from 'sql-template-tag';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';

/** Delay until uses are written together: `tokens list` shows one soon after, and requests do not wait for it. */
const DELAY_MS = 1000;

const MINUTE_MS = 60_000;

/** Maximum tokens whose last minute is known; a token that was forgotten is written once more. */
const MAX_KNOWN = 100_000;

/** Ids of tokens, and the minute since 1970 in which each was last used. */
export type Uses = readonly (readonly [id: string, minute: number])[];

/** Writes uses of tokens. */
export async function saveUses(store: Pick<Store, 'write'>, uses: Uses): Promise<void> {
  // In one order, so that two servers never wait for each other.
  const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
  await store.write(async (tx) => {
    for (const [id, minute] of sorted) {
      const at = new Date(minute * MINUTE_MS).toISOString();
      // Of several servers the one that writes last need not be the one that was asked last.
      await tx.run(sql`UPDATE access_tokens SET last_used_at = ${at}
        WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${at})`);
    }
  });
}

/** When tokens were last used, to the minute: at most one write a minute for each token, many of them in one. */
export class TokenUses {
  /** Of each token, the last minute that was noted, since 1970. */
  private readonly noted = new Map<string, number>();
  private pending = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly save: (uses: Uses) => Promise<void>,
    private readonly clock: Clock,
  ) {}

  /** Notes that a token, named by its id, was accepted. */
  note(id: string): void {
    const minute = Math.floor(this.clock() / MINUTE_MS);
    if (this.noted.get(id) === minute) return;
    if (this.noted.size >= MAX_KNOWN) this.noted.clear();
    this.noted.set(id, minute);
    this.pending.set(id, minute);
    this.schedule();
  }

  /** Writes what is noted. */
  async flush(): Promise<void> {
    await this.write().catch(() => undefined);
  }

  /** The same; nothing is written by itself after that. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush();
  }

  private schedule(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // As while an import holds the store: nobody is refused for it.
      this.write().catch(() => this.schedule());
    }, DELAY_MS).unref();
  }

  private async write(): Promise<void> {
    if (this.pending.size === 0) return;
    const uses = this.pending;
    this.pending = new Map();
    try {
      await this.save([...uses]);
    } catch (error) {
      this.pending = new Map([...uses, ...this.pending]);
      throw error;
    }
  }
}
