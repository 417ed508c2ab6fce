import { isDeepStrictEqual } from 'node:util';

/** A record, its id a number. */
export type Fields = Readonly<Record<string, unknown>> & { readonly id: number };

/** A change as the stream tells it: the changed fields of an update, the id of a deletion. */
export interface Told {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly payload: Fields;
  readonly at: string;
}

/** How a table is published. */
export interface Published {
  readonly found: 'ids' | 'compare' | null;
  /** The changes before this one, counted from 1, are older than what was staged. */
  readonly border: number;
  readonly at: string;
}

interface Version {
  readonly id: number;
  readonly record: Fields;
  readonly operation: Told['operation'];
  readonly from: string;
  to: string | null;
}

/** What a table of a mirror is to hold, in a few maps and in none of the product's words (D52). */
export class Model {
  readonly rows = new Map<number, Fields>();
  readonly tombstones = new Map<number, { readonly record: Fields; readonly at: string }>();
  readonly versions: Version[] = [];
  readonly staged = new Map<number, Fields>();
  readonly listed = new Set<number>();
  told: Told[] = [];
  isWhole = false;
  hasHistory = false;
  private counts = { added: 0, changed: 0, deleted: 0 };

  /** From now on every version is kept, beginning with what is there. */
  keepVersions(at: string): void {
    this.hasHistory = true;
    if (!this.isWhole) return;
    for (const [id, record] of this.rows) this.versions.push({ id, record, operation: 'CREATE', from: at, to: null });
  }

  /** Ids of which nothing is here, though the service lists them or an update names them. */
  unknown(): number[] {
    const others = this.told.filter(({ operation }) => operation !== 'UPDATE').map(({ payload }) => payload.id);
    const here = new Set([...this.rows.keys(), ...this.staged.keys(), ...others]);
    const named = new Set([...this.listed, ...this.told.map(({ payload }) => payload.id)]);
    return [...named].filter((id) => !here.has(id)).sort((a, b) => a - b);
  }

  /** Rows that a list of all did not have. */
  missing(found: 'ids' | 'compare'): number[] {
    const isFound = (id: number) => this.staged.has(id) || (found === 'ids' && this.listed.has(id));
    return [...this.rows.keys()].filter((id) => !isFound(id));
  }

  /** Makes everything visible; how many rows are new, another one, or gone. */
  publish({ found, border, at }: Published) {
    this.counts = { added: 0, changed: 0, deleted: 0 };
    const wasWhole = this.isWhole;
    this.apply(this.told.slice(0, border - 1));
    const last = new Map(this.told.slice(0, border - 1).map(({ operation, payload }) => [payload.id, operation]));
    const staged = [...this.staged].sort(([a], [b]) => a - b);
    for (const [id, record] of staged) if (last.get(id) !== 'DELETE') this.put(record, at);
    if (found !== null) for (const id of this.missing(found)) this.remove(id, at);
    this.apply(this.told.slice(border - 1));
    this.staged.clear();
    this.listed.clear();
    this.told = [];
    this.isWhole = true;
    if (wasWhole) return this.counts;
    if (this.hasHistory) this.keepVersions(at);
    return { added: this.rows.size, changed: 0, deleted: 0 };
  }

  private apply(changes: readonly Told[]): void {
    for (const { operation, payload, at } of changes) {
      const before = this.rows.get(payload.id);
      if (operation === 'DELETE') this.remove(payload.id, at);
      else if (operation === 'CREATE') this.put(payload, at);
      else if (before !== undefined) this.put({ ...before, ...payload }, at);
    }
  }

  private put(record: Fields, at: string): void {
    const { id } = record;
    const before = this.rows.get(id);
    if (isDeepStrictEqual(before, record)) return;
    this.rows.set(id, record);
    this.tombstones.delete(id);
    this.counts[before === undefined ? 'added' : 'changed']++;
    this.end(id, at);
    this.version({ id, record, operation: before === undefined ? 'CREATE' : 'UPDATE', from: at, to: null });
  }

  private remove(id: number, at: string): void {
    const record = this.rows.get(id);
    if (record === undefined) return;
    this.rows.delete(id);
    this.tombstones.set(id, { record, at });
    this.counts.deleted++;
    this.end(id, at);
    this.version({ id, record, operation: 'DELETE', from: at, to: at });
  }

  private end(id: number, at: string): void {
    for (const version of this.versions) if (version.id === id && version.to === null) version.to = at;
  }

  private version(version: Version): void {
    if (this.hasHistory && this.isWhole) this.versions.push(version);
  }
}
