import sql, { raw } from 'sql-template-tag';
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
import { STAGING_TABLES } from '../store/migrations/imports.ts';
import type { Transaction } from '../store/store.ts';
import { ChangeLog } from './changes.ts';
import { openCorrections, settleCorrections } from './corrections.ts';
import { CredentialLines } from './credentials.ts';
import { DeferredLines } from './deferredlines.ts';
import { ImportedFiles } from './documents.ts';
import { ImportedIds } from './ids.ts';
import type { RecordKind } from './kinds.ts';
import { type ImportLine, type OpenSource, ProblemList } from './lines.ts';
import { storedLocations } from './linevalues.ts';
import { LinkBook, storedTargets } from './links.ts';
import { Organizations } from './organizations.ts';
import { type ImportSummary, type LineReaders, readAll } from './reading.ts';
import { type ImportState, importRecord } from './records.ts';

/** What an import does beside taking over records. */
export interface ImportOptions {
  /** The stream begins with these records, as with demo data. */
  readonly unpublished?: boolean;
  /** Takes tokens and clients into a store that has organizations already (contract §8). */
  readonly allowCredentials?: boolean;
}

/**
 * Imports records in one transaction, which keeps all others from writing: for a store without organizations, where
 * nobody has anything to write. Throws `ImportRefused`.
 */
export async function importAtOnce(
  service: Service,
  source: OpenSource,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const files = new ImportedFiles(service.files);
  try {
    const summary = await service.store.write((tx) => importInto(tx, service, files, source, options));
    await files.keep();
    await removeUnlessKept(service, files.replaced);
    return summary;
  } catch (error) {
    await files.settle(service.store);
    throw error;
  }
}

const { import_links, import_deferred } = STAGING_TABLES;
const NOTED = Object.entries({ import_links, import_deferred });

/** The tables of what the import notes are of this transaction alone, so it needs no name. */
const NAME = '';

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
    links: new LinkBook(tx, NAME, storedTargets(tx)),
    locations: storedLocations(tx),
    changes: unpublished ? undefined : new ChangeLog(tx),
    ids: new ImportedIds(tx),
    referrers: new Map(),
    counts: {},
    deleted: 0,
    last: false,
  };
  const indexes = await tx.beginBulkLoad(STORED_RESOURCES.map(tableOf));
  for (const [name, columns] of NOTED) await tx.run(sql`CREATE TEMP TABLE ${raw(`${name} ${columns}`)}`);
  await openCorrections(tx);
  await state.credentials.open();
  await state.changes?.open();
  const deferred = new DeferredLines(tx, NAME);
  const readers: LineReaders = Object.assign(state, {
    record: (kind: RecordKind, entry: ImportLine) => importRecord(state, kind, entry),
    organization: (entry: ImportLine) => state.organizations.readLine(entry, problems),
    credential: async (type: string, entry: ImportLine) => (await state.credentials.readLine(type, entry))?.(tx),
  });
  await readAll(readers, source(problems), deferred);
  await state.links.flush();
  await indexes.restore();
  // By the indexes: it looks for patients by whom has referred them.
  await refreshReferrers(state);
  await state.organizations.settle(problems);
  await state.credentials.settle();
  await state.links.settle(problems);
  problems.throwIfAny();
  for (const [name] of NOTED) await tx.run(sql`DROP TABLE ${raw(name)}`);
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
