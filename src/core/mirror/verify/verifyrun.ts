import { EXIT } from '../../../catalog/failures.ts';
import { Failure, isInterruption } from '../../failure.ts';
import { guarded } from '../sqlite/connection.ts';
import type { SqliteMirror } from '../sqlite/sqlitemirror.ts';
import type { ResourceState } from '../store.ts';
import { Stream } from '../sync/listening.ts';
import { type ReadTarget, ResourceReader } from '../sync/reading.ts';
import { refusalOf } from '../sync/refusal.ts';
import { type SyncOrder, syncOnce } from '../sync/syncrun.ts';
import type { MirrorTable } from '../tables.ts';
import { Doubts } from './doubts.ts';

/** A record that differs in some fields, by their wire names. */
export interface DifferentRecord {
  readonly id: string;
  readonly fields: readonly string[];
}

/** What the comparison of one resource found. */
export interface VerifiedResource {
  readonly table: MirrorTable;
  /** Rows of the copy, and records of the service, when it ended. */
  readonly rows: number;
  readonly serverRows: number;
  /** Ids, at most `MAX_NAMED` of each kind. */
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  readonly different: readonly DifferentRecord[];
  /** Records that differ, all of them, and how many of them were mended. */
  readonly differences: number;
  readonly repaired: number;
  /** Whether all of it was compared. */
  readonly complete: boolean;
  readonly unavailable: string | null;
  /** Why it was not. */
  readonly failure: Failure | null;
}

/** What to compare, and how. */
export interface VerifyOrder extends Omit<SyncOrder, 'store' | 'isIncrement'> {
  readonly store: SqliteMirror;
  /** Records of each resource that are read besides all ids; undefined: all records. */
  readonly sample: number | undefined;
  /** Makes the copy what the service says wherever it differs. */
  readonly isRepair: boolean;
}

/** Ids that are named of each kind of difference. */
export const MAX_NAMED = 1000;

/** How often what is in doubt is synced and read again before it counts as a difference. */
const MAX_ROUNDS = 3;

/**
 * Brings a copy up to date and compares it with the service, record by record (D52): the columns and the entries of lists as
 * they stand in the tables. What changed at the service meanwhile is no difference, and what a sync would mend without a
 * word is one. Throws what no resource survives.
 */
export function verifyOnce(order: VerifyOrder): Promise<readonly VerifiedResource[]> {
  return new VerifyRun(order).run();
}

class VerifyRun {
  private readonly doubts = new Map<MirrorTable, Doubts>();
  private readonly failures = new Map<MirrorTable, Failure>();
  private readonly unavailable = new Map<MirrorTable, string>();
  private readonly findings = new Map<MirrorTable, VerifiedResource>();

  private readonly stream: Stream;

  constructor(private readonly order: VerifyOrder) {
    const { client, now, signal } = order;
    this.stream = new Stream(client, now, signal);
  }

  async run(): Promise<readonly VerifiedResource[]> {
    const { tables, store } = this.order;
    const isWhole = ({ complete, unavailable }: ResourceState) => complete && unavailable === null;
    const others = tables.filter((table) => !isWhole(store.resource(table)));
    if (others.length > 0) await this.sync(others);
    for (const table of tables) await this.attempt(table, () => this.read(table));
    await this.sync(tables);
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      for (const table of tables) await this.attempt(table, () => this.readAgain(table));
      const isUnsettled = [...this.doubts.values()].some((doubts) => doubts.open(false) > 0);
      if (!isUnsettled || round === MAX_ROUNDS) break;
      await this.sync(tables);
    }
    for (const table of tables) await this.attempt(table, () => this.conclude(table));
    return tables.map((table) => this.findings.get(table) ?? this.unread(table));
  }

  private async sync(tables: readonly MirrorTable[]): Promise<void> {
    const outcome = await syncOnce({ ...this.order, tables });
    for (const { table, failure, unavailable } of outcome.resources) {
      if (failure !== null) this.failures.set(table, failure);
      if (unavailable !== null) this.unavailable.set(table, unavailable);
    }
  }

  /** Runs a step for one resource; its failure leaves the others alone. */
  private async attempt(table: MirrorTable, work: () => Promise<void>): Promise<void> {
    if (this.failures.has(table) || this.unavailable.has(table)) return;
    try {
      await work();
    } catch (cause) {
      this.order.signal.throwIfAborted();
      if (!(cause instanceof Failure) || isInterruption(cause)) throw cause;
      const unavailable = refusalOf(cause, this.order.deidentifier !== undefined);
      if (unavailable !== undefined) {
        this.unavailable.set(table, unavailable);
        return;
      }
      if (cause.exitCode === EXIT.file || cause.exitCode === EXIT.auth) throw cause;
      this.failures.set(table, cause);
    }
  }

  /** Reads everything the service has, and holds what a sync would hide. */
  private async read(table: MirrorTable): Promise<void> {
    const { store, sample, onTable, onUnproved } = this.order;
    onTable(table);
    const doubts = this.local(() => new Doubts(store, table));
    const { reader } = this.reader(table, doubts);
    this.local(() => doubts.begin());
    if (sample === undefined || !reader.tellsById) {
      const { unproved } = await reader.stageAll();
      if (unproved !== null) onUnproved(table, unproved);
    } else {
      const { unproved } = await reader.sweep();
      if (unproved !== null) onUnproved(table, unproved);
      await reader.fetch(this.local(() => doubts.sample(sample)));
    }
    this.local(() => {
      doubts.end();
      doubts.hold();
    });
    this.doubts.set(table, doubts);
  }

  /** Asks for each record in doubt by its id: a difference is what is still one then. */
  private async readAgain(table: MirrorTable): Promise<void> {
    const doubts = this.doubts.get(table);
    if (doubts === undefined) return;
    this.local(() => doubts.compareAgain());
    if (this.local(() => doubts.open()) === 0) return;
    const { reader, found } = this.reader(table, doubts);
    if (!reader.tellsById) await reader.stageAll();
    for (let after = -(2n ** 63n); ; ) {
      const ids = this.local(() => doubts.openIds(after));
      const last = ids.at(-1);
      if (last === undefined) return;
      if (reader.tellsById) found.clear();
      if (reader.tellsById) await reader.fetch(ids);
      this.local(() => doubts.settleAbsent(ids, found));
      after = BigInt(last);
    }
  }

  private async conclude(table: MirrorTable): Promise<void> {
    const { store, isRepair, now, sample } = this.order;
    const doubts = this.doubts.get(table);
    if (doubts === undefined) return;
    const found = this.local(() => namedDifferences(doubts));
    const differences = this.local(() => doubts.open());
    const serverRows = this.local(() => doubts.rows() - doubts.extraRows() + doubts.countOf('missing'));
    const at = new Date(now()).toISOString();
    const written = this.order.deidentifier?.instant(at) ?? at;
    if (isRepair && differences > 0) {
      this.local(() => {
        doubts.mend(written);
        doubts.compareAgain();
      });
    }
    const left = this.local(() => doubts.open());
    const rows = this.local(() => doubts.rows());
    // Rows that nobody has accounted for stay so, for the next comparison.
    const counted = rows - this.local(() => doubts.heldSurplus());
    const isProved = left === 0 && sample === undefined;
    const deletedRows = this.local(() => doubts.tombstones());
    await store.saveResource(table, { rows: counted, deletedRows, ...(isProved && { verifiedAt: at }) });
    this.findings.set(table, {
      ...{ table, rows, serverRows, ...found, differences },
      ...{ repaired: differences - left, complete: true, unavailable: null, failure: null },
    });
  }

  private unread(table: MirrorTable): VerifiedResource {
    const { rows } = this.order.store.resource(table);
    const unavailable = this.unavailable.get(table) ?? null;
    const nothing = { missing: [], extra: [], different: [], differences: 0, repaired: 0, serverRows: 0 };
    return { table, rows, ...nothing, complete: false, unavailable, failure: this.failures.get(table) ?? null };
  }

  /** Reads records straight into a comparison; `found`: the ids that came. */
  private reader(table: MirrorTable, doubts: Doubts): { readonly reader: ResourceReader; readonly found: Set<string> } {
    const { store } = this.order;
    const found = new Set<string>();
    const target: ReadTarget = {
      facts: store.facts,
      locations: () => store.locations(),
      load: () => Promise.reject(new Error('A comparison loads nothing.')),
      stage: async (_, records) => {
        for (const { id } of records) found.add(String(id));
        this.local(() => doubts.compare(records));
      },
      stageIds: async (_, ids) => this.local(() => doubts.compareIds(ids)),
    };
    const hadStream = store.resource(table).position !== null;
    const stream = () => (hadStream ? this.stream : undefined);
    return { reader: new ResourceReader({ ...this.order, stream, store: target }, table), found };
  }

  private local<T>(work: () => T): T {
    return guarded(this.order.store.file, work);
  }
}

function namedDifferences(doubts: Doubts): Pick<VerifiedResource, 'missing' | 'extra' | 'different'> {
  return {
    missing: doubts.idsOf('missing', MAX_NAMED),
    extra: doubts.idsOf('extra', MAX_NAMED),
    different: doubts.idsOf('different', MAX_NAMED).map((id) => ({ id, fields: doubts.fieldsOf(id) })),
  };
}
