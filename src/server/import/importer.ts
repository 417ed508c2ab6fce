import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import { patients } from '../../catalog/resources/patients.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { removeScheduled } from '../files/recovery.ts';
import { fillLedger, settleLedger } from '../reports/aging/ledger.ts';
import { refreshReferred } from '../resources/patients.ts';
import type { Service } from '../service.ts';
import { nowOf } from '../service.ts';
import { tableOf } from '../store/layout.ts';
import type { Transaction } from '../store/store.ts';
import { ChangeBook } from './changes.ts';
import { CorrectionBook } from './corrections.ts';
import { DeferredLines } from './deferred.ts';
import { ImportedFiles } from './files.ts';
import { importGlobal } from './globals.ts';
import { ImportedIds } from './ids.ts';
import { ALL_TYPES, GLOBAL_KINDS, RECORD_KINDS } from './kinds.ts';
import type { ImportLine, LineSource } from './lines.ts';
import { LinkBook } from './links.ts';
import { Organizations } from './organizations.ts';
import { Places } from './places.ts';
import { ProblemList } from './problems.ts';
import { PlaceUnknown } from './readings.ts';
import { type ImportState, importRecord } from './records.ts';

/** What an import did: records by type, deleted ones apart. */
export interface ImportSummary {
  readonly imported: Readonly<Record<string, number>>;
  readonly deleted: number;
}

export interface ImportOptions {
  /** The stream is not told: what comes in is where it begins, as demo data is. */
  readonly untold?: boolean;
}

/**
 * Imports records as a whole (contract §7): in any order, upserted by organization, type and id, links checked at
 * the end, all or nothing. Throws `ImportRefused`; nothing is in the store then. Memory does not grow with the source.
 */
export async function importRecords(
  service: Service,
  source: (problems: ProblemList) => LineSource,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const files = new ImportedFiles(service.files);
  try {
    const summary = await service.store.write((tx) => importInto(tx, service, files, source, options));
    await files.keep();
    await removeScheduled(service.store, service.files, files.replaced);
    await service.store.tidy();
    return summary;
  } catch (error) {
    await files.discard();
    throw error;
  }
}

async function importInto(
  tx: Transaction,
  service: Service,
  files: ImportedFiles,
  source: (problems: ProblemList) => LineSource,
  { untold = false }: ImportOptions,
): Promise<ImportSummary> {
  const now = nowOf(service);
  const problems = new ProblemList();
  const state: ImportState = {
    tx,
    service,
    files,
    now,
    problems,
    organizations: new Organizations(tx, now),
    links: new LinkBook(tx),
    places: new Places(tx),
    corrections: new CorrectionBook(tx),
    ...(!untold && { changes: new ChangeBook(tx) }),
    ids: new ImportedIds(tx),
    referrers: new Map(),
    counts: {},
    deleted: 0,
  };
  const indexes = await tx.beginBulkLoad(STORED_RESOURCES.map(tableOf));
  await state.links.open();
  await state.corrections.open();
  await state.changes?.open();
  const deferred = new DeferredLines(tx);
  for await (const entries of source(problems)) {
    for (const entry of entries) {
      try {
        // What becomes of a record is what its last line says.
        if (deferred.holds(entry)) await deferred.add(entry);
        else await importLine(state, entry);
      } catch (error) {
        // A later line tells where it is: read again when all lines are in.
        if (!(error instanceof PlaceUnknown)) throw error;
        await deferred.add(entry);
      }
    }
  }
  for await (const entry of deferred.drain()) await importLine({ ...state, last: true }, entry);
  await state.links.flush();
  await indexes.restore();
  // The lists that follow from referrals are true before links are checked: they must not hold what is deleted.
  await refreshReferrers(state);
  await state.organizations.settle(problems);
  await state.links.settle(problems);
  problems.throwIfAny();
  await state.corrections.settle(service, now);
  await state.changes?.settle(now);
  for (const org of state.ids.begun(transactions.type)) await fillLedger(tx, org);
  await settleLedger(tx);
  await state.ids.settle();
  return { imported: state.counts, deleted: state.deleted };
}

async function refreshReferrers({ tx, changes, referrers }: ImportState): Promise<void> {
  for (const [org, ids] of referrers) {
    for (const id of ids) {
      await changes?.note(org, patients, id);
      // The book tells of it in the end.
      await refreshReferred(tx, org, id, async () => {});
    }
  }
}

function importLine(state: ImportState, entry: ImportLine): Promise<void> {
  const { type, deleted } = entry.record;
  if (deleted != null && typeof deleted !== 'boolean') {
    state.problems.add(entry.line, 'deleted', 'deleted must be true or false.');
    return NOTHING;
  }
  const kind = typeof type === 'string' ? RECORD_KINDS.get(type) : undefined;
  return kind === undefined ? importOther(state, entry) : importRecord(state, kind, entry);
}

const NOTHING = Promise.resolve();

/** A line of a kind that is not an organization's own. */
async function importOther(state: ImportState, entry: ImportLine): Promise<void> {
  const { type } = entry.record;
  if (type === 'Organization') {
    await state.organizations.readLine(entry, state.problems);
  } else if (typeof type === 'string' && Object.hasOwn(GLOBAL_KINDS, type)) {
    await importGlobal(state, type, entry);
  } else {
    const what = typeof type === 'string' ? `${type} is not a type` : 'The line has no type';
    state.problems.add(entry.line, 'type', `${what}. Types: ${ALL_TYPES.join(', ')}.`);
    return;
  }
  state.counts[type] = (state.counts[type] ?? 0) + 1;
}
