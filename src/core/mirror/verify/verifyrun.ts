import { EXIT } from '../../../catalog/failures.ts';
import { Failure, isInterruption } from '../../failure.ts';
import type { SqlMirror } from '../sql/sqlmirror.ts';
import type { ResourceState } from '../store.ts';
import { Stream } from '../sync/listening.ts';
import { type ReadTarget, ResourceReader } from '../sync/reading.ts';
import { isOfMirror, refusalOf } from '../sync/refusal.ts';
import { type SyncOrder, syncOnce } from '../sync/syncrun.ts';
import type { MirrorTable } from '../tables.ts';
import { Doubts, LEAST } from './doubts.ts';

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
  readonly store: SqlMirror;
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
    const others: MirrorTable[] = [];
    for (const table of tables) if (!isWhole(await store.resource(table))) others.push(table);
    if (others.length > 0) await this.sync(others);
    for (const table of tables) await this.attempt(table, () => this.read(table));
    await this.sync(tables);
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      for (const [table, doubts] of this.doubts) await this.attempt(table, () => this.readAgain(table, doubts));
      if (round === MAX_ROUNDS || !(await this.isUnsettled())) break;
      await this.sync(tables);
    }
    for (const [table, doubts] of this.doubts) await this.attempt(table, () => this.conclude(table, doubts));
    const found: VerifiedResource[] = [];
    for (const table of tables) found.push(this.findings.get(table) ?? (await this.unread(table)));
    return found;
  }

  /** Whether anything is in doubt that a sync may bring. */
  private async isUnsettled(): Promise<boolean> {
    for (const doubts of this.doubts.values()) if ((await doubts.open(false)) > 0) return true;
    return false;
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
      if (isOfMirror(cause) || cause.exitCode === EXIT.auth) throw cause;
      this.failures.set(table, cause);
    }
  }

  /** Reads everything the service has, and holds what a sync would hide. */
  private async read(table: MirrorTable): Promise<void> {
    const { store, sample, onTable, onUnproved } = this.order;
    onTable(table);
    const doubts = await Doubts.open(store, table);
    const { reader } = await this.reader(table, doubts);
    await doubts.begin();
    if (sample === undefined || !reader.tellsById) {
      const { unproved } = await reader.stageAll();
      if (unproved !== null) onUnproved(table, unproved);
    } else {
      const { unproved } = await reader.sweep();
      if (unproved !== null) onUnproved(table, unproved);
      await reader.fetch(await doubts.sample(sample));
    }
    await doubts.end();
    await doubts.hold();
    this.doubts.set(table, doubts);
  }

  /** Asks for each record in doubt by its id: a difference is what is still one then. */
  private async readAgain(table: MirrorTable, doubts: Doubts): Promise<void> {
    await doubts.compareAgain();
    if ((await doubts.open()) === 0) return;
    const { reader, found } = await this.reader(table, doubts);
    if (!reader.tellsById) await reader.stageAll();
    for (let after = LEAST; ; ) {
      const ids = await doubts.openIds(after);
      const last = ids.at(-1);
      if (last === undefined) return;
      if (reader.tellsById) found.clear();
      if (reader.tellsById) await reader.fetch(ids);
      await doubts.settleAbsent(ids, found);
      after = last;
    }
  }

  private async conclude(table: MirrorTable, doubts: Doubts): Promise<void> {
    const { store, isRepair, now, sample } = this.order;
    const found = await namedDifferences(doubts);
    const differences = await doubts.open();
    const serverRows = (await doubts.rows()) - (await doubts.extraRows()) + (await doubts.countOf('missing'));
    const at = new Date(now()).toISOString();
    const written = this.order.deidentifier?.instant(at) ?? at;
    if (isRepair && differences > 0) {
      await doubts.mend(written);
      await doubts.compareAgain();
    }
    const left = await doubts.open();
    const rows = await doubts.rows();
    // Rows that nobody has accounted for stay so, for the next comparison.
    const counted = rows - (await doubts.heldSurplus());
    const isProved = left === 0 && sample === undefined;
    const deletedRows = await doubts.tombstones();
    await store.saveResource(table, { rows: counted, deletedRows, ...(isProved && { verifiedAt: at }) });
    this.findings.set(table, {
      ...{ table, rows, serverRows, ...found, differences },
      ...{ repaired: differences - left, complete: true, unavailable: null, failure: null },
    });
  }

  private async unread(table: MirrorTable): Promise<VerifiedResource> {
    const { rows } = await this.order.store.resource(table);
    const unavailable = this.unavailable.get(table) ?? null;
    const nothing = { missing: [], extra: [], different: [], differences: 0, repaired: 0, serverRows: 0 };
    return { table, rows, ...nothing, complete: false, unavailable, failure: this.failures.get(table) ?? null };
  }

  /** Reads records straight into a comparison; `found`: the ids that came. */
  private async reader(
    table: MirrorTable,
    doubts: Doubts,
  ): Promise<{ readonly reader: ResourceReader; readonly found: Set<string> }> {
    const { store } = this.order;
    const found = new Set<string>();
    const target: ReadTarget = {
      facts: store.facts,
      locations: () => store.locations(),
      load: () => Promise.reject(new Error('A comparison loads nothing.')),
      stage: async (_, records) => {
        for (const { id } of records) found.add(String(id));
        await doubts.compare(records);
      },
      stageIds: (_, ids) => doubts.compareIds(ids),
    };
    const hadStream = (await store.resource(table)).position !== null;
    const stream = () => (hadStream ? this.stream : undefined);
    return { reader: new ResourceReader({ ...this.order, stream, store: target }, table), found };
  }
}

async function namedDifferences(doubts: Doubts): Promise<Pick<VerifiedResource, 'missing' | 'extra' | 'different'>> {
  const different: DifferentRecord[] = [];
  for (const id of await doubts.idsOf('different', MAX_NAMED))
    different.push({ id, fields: await doubts.fieldsOf(id) });
  return {
    missing: await doubts.idsOf('missing', MAX_NAMED),
    extra: await doubts.idsOf('extra', MAX_NAMED),
    different,
  };
}
