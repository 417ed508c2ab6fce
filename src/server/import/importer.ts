import type { Readable } from 'node:stream';
import sql from 'sql-template-tag';
import type { Service } from '../service.ts';
import { type ImportOptions, importAtOnce } from './atonce.ts';
import { type OpenSource, readLines } from './lines.ts';
import type { ImportSummary } from './reading.ts';
import { importStaged, resumeImports, waitForClaim } from './staged/stagedimport.ts';

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
 * Imports records in any order, all or nothing, upserted by organization, type and id (contract §7); waits for another
 * import to end. Memory does not grow with the source. Throws `ImportRefused`.
 */
export async function importRecords(
  service: Service,
  source: OpenSource,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const { store } = service;
  const claim = await waitForClaim(store);
  try {
    await resumeImports(service, claim);
    const isEmpty = (await store.read.get(sql`SELECT 1 AS found FROM organizations LIMIT 1`)) === undefined;
    const summary =
      isEmpty || options.unpublished === true
        ? await importAtOnce(service, source, options)
        : await importStaged(service, claim, source, options.allowCredentials === true);
    await store.tidy();
    return summary;
  } finally {
    await claim.release();
  }
}
