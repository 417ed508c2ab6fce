import sql from 'sql-template-tag';
import type { Store } from '../../store/store.ts';
import { countBehind, type Head, type Position, positionText, readPosition } from '../positions.ts';

/** How far a broker has the messages of each organization. */
export class Cursors {
  private reached: Map<number, Position | undefined> = new Map();
  private readonly unsaved = new Set<number>();

  /** `target`: its name in the store. */
  constructor(
    private readonly store: Store,
    private readonly target: string,
  ) {}

  /** Up to where the broker has every message; undefined: it has none, as far as is known. */
  of(org: number): Position | undefined {
    return this.reached.get(org);
  }

  /** The broker has every message up to this one. */
  reach(org: number, position: Position): void {
    this.reached.set(org, position);
    this.unsaved.add(org);
  }

  /** Messages that the broker lacks. */
  lag(heads: Iterable<Head>): number {
    let lag = 0;
    for (const head of heads) lag += countBehind(head, this.of(head.org)?.number ?? 0);
    return lag;
  }

  /**
   * Reads what was saved, by another server perhaps. A broker of which nothing was saved gets every message in the outbox,
   * and is not told of those that were deleted before.
   */
  async load(): Promise<void> {
    const all = sql`SELECT org, position FROM relay_positions WHERE target = ${this.target}`;
    let rows = await this.store.read.all<{ org: number; position: string }>(all);
    if (rows.length === 0) {
      await this.store.write((tx) =>
        tx.run(sql`INSERT INTO relay_positions (org, target, position)
          SELECT org, ${this.target}, CAST(floor AS TEXT) FROM stream_heads WHERE true ON CONFLICT DO NOTHING`),
      );
      rows = await this.store.read.all(all);
    }
    this.reached = new Map(rows.map(({ org, position }) => [org, readPosition(position)]));
    this.unsaved.clear();
  }

  /** Saves what has moved. What cannot be saved is made up for by the next time. */
  async save(): Promise<void> {
    // In one order, so that this server and the one that takes over never wait for each other.
    const orgs = [...this.unsaved].sort((a, b) => a - b);
    if (orgs.length === 0) return;
    this.unsaved.clear();
    const moved = orgs.map((org) => ({ org, position: this.of(org) as Position }));
    await this.store
      .write(async (tx) => {
        for (const { org, position } of moved) {
          const text = positionText(position.epoch, position.number);
          await tx.run(sql`INSERT INTO relay_positions (org, target, position) VALUES (${org}, ${this.target}, ${text})
            ON CONFLICT (org, target) DO UPDATE SET position = excluded.position`);
        }
      })
      .catch(() => {
        for (const org of orgs) this.unsaved.add(org);
      });
  }
}
