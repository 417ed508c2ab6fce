import type { Readable } from 'node:stream';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import { patients } from '../../catalog/resources/patients.ts';
import { transactions } from '../../catalog/resources/transactions.ts';
import { appendCommand } from '../audit/commands.ts';
import { nowOf } from '../clock.ts';
import { removeUnlessKept } from '../files/recovery.ts';
import { fillLedger, settleLedger } from '../reports/aging/ledger.ts';
import { refreshReferred } from '../resources/patients.ts';
import type { Service } from '../service.ts';
import { tableOf } from '../store/layout.ts';
import type { Transaction } from '../store/store.ts';
import { ChangeLog } from './changes.ts';
import { openCorrections, settleCorrections } from './corrections.ts';
import { CredentialLines } from './credentials.ts';
import { ImportedFiles } from './documents.ts';
import { ImportedIds } from './ids.ts';
import { ALL_TYPES, GLOBAL_KINDS, RECORD_KINDS } from './kinds.ts';
import { DeferredLines, type ImportLine, type LineSource, ProblemList, readLines } from './lines.ts';
import { LocationCache, LocationUnknown } from './linevalues.ts';
import { LinkBook } from './links.ts';
import { Organizations } from './organizations.ts';
import { type ImportState, importRecord } from './records.ts';

/** The outcome of an import: records by type, and deleted ones. */
export interface ImportSummary {
  readonly imported: Readonly<Record<string, number>>;
  readonly deleted: number;
}

type OpenSource = (problems: ProblemList) => LineSource;

/** What an import does beside taking over records. */
export interface ImportOptions {
  /** The stream begins with these records, as with demo data. */
  readonly unpublished?: boolean;
  /** Takes tokens and clients into a store that has organizations already (contract §8). */
  readonly allowCredentials?: boolean;
}

/** Imports an NDJSON stream (contract §7). Throws `ImportRefused`. */
export function importFile(service: Service, source: Readable, options?: ImportOptions): Promise<ImportSummary> {
  // A missing file fails before its lines are read, whose reader then rejects with the failure.
  source.on('error', () => undefined);
  return importRecords(service, (problems) => readLines(source, problems), options);
}

/** The summary as text for people: one line per type. */
export function importText({ imported, deleted }: ImportSummary): string {
  const lines = Object.entries(imported).map(([type, count]) => `${type}  ${count}`);
  return `${[...lines, ...(deleted > 0 ? [`deleted  ${deleted}`] : [])].join('\n') || 'The file has no records.'}\n`;
}

/**
 * Imports records in any order, all or nothing, upserted by organization, type and id (contract §7). Memory does not grow
 * with the source. Throws `ImportRefused`.
 */
export async function importRecords(
  service: Service,
  source: OpenSource,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const files = new ImportedFiles(service.files);
  try {
    const summary = await service.store.write((tx) => importInto(tx, service, files, source, options));
    await files.keep();
    await removeUnlessKept(service, files.replaced);
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
  source: OpenSource,
  { unpublished = false, allowCredentials = false }: ImportOptions,
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
    credentials: new CredentialLines(tx, now, problems, allowCredentials),
    links: new LinkBook(tx),
    locations: new LocationCache(tx),
    changes: unpublished ? undefined : new ChangeLog(tx),
    ids: new ImportedIds(tx),
    referrers: new Map(),
    counts: {},
    deleted: 0,
    last: false,
  };
  const indexes = await tx.beginBulkLoad(STORED_RESOURCES.map(tableOf));
  await state.links.open();
  await openCorrections(tx);
  await state.credentials.open();
  await state.changes?.open();
  const deferred = new DeferredLines(tx);
  for await (const entries of source(problems)) {
    for (const entry of entries) {
      try {
        // The last line of a record wins, so it must not overtake an earlier one.
        if (deferred.includes(entry)) await deferred.add(entry);
        else await importLine(state, entry);
      } catch (error) {
        // A later line may define the location: this one is read again after the last.
        if (!(error instanceof LocationUnknown)) throw error;
        await deferred.add(entry);
      }
    }
  }
  state.last = true;
  for await (const entry of deferred.drain()) await importLine(state, entry);
  await state.links.flush();
  await indexes.restore();
  // Lists derived from referrals are rebuilt before links are checked: they must not contain what is deleted.
  await refreshReferrers(state);
  await state.organizations.settle(problems);
  await state.credentials.settle();
  await state.links.settle(problems);
  problems.throwIfAny();
  await settleCorrections(tx, service, now);
  await state.changes?.settle(now);
  if (state.changes !== undefined) {
    const count = Object.values(state.counts).reduce((sum, some) => sum + some, state.deleted);
    const told = state.changes.told();
    for (const done of told.length > 0 ? told : [{ count }]) {
      await appendCommand(tx, now, { operation: 'server.import', ...done });
    }
  }
  for (const org of state.ids.begun(transactions.type)) await fillLedger(tx, org);
  await settleLedger(tx);
  await state.ids.settle();
  return { imported: state.counts, deleted: state.deleted };
}

async function refreshReferrers({ tx, changes, referrers }: ImportState): Promise<void> {
  for (const [org, ids] of referrers) {
    for (const id of ids) {
      await changes?.note(org, patients, id);
      // The change log publishes it at the end.
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

/** A line that does not belong to an organization. */
async function importOther(state: ImportState, entry: ImportLine): Promise<void> {
  const { type } = entry.record;
  if (type === 'Organization') {
    await state.organizations.readLine(entry, state.problems);
  } else if (typeof type === 'string' && Object.hasOwn(GLOBAL_KINDS, type)) {
    await state.credentials.importLine(type, entry);
  } else {
    const what = typeof type === 'string' ? `${type} is not a type` : 'The line has no type';
    state.problems.add(entry.line, 'type', `${what}. Types: ${ALL_TYPES.join(', ')}.`);
    return;
  }
  if (entry.record.deleted === true) state.deleted++;
  else state.counts[type] = (state.counts[type] ?? 0) + 1;
}
