import type { Readable } from 'node:stream';
import type { Service } from '../service.ts';
import { type ImportSummary, importRecords } from './importer.ts';
import { readLines } from './lines.ts';

/** Imports an NDJSON stream (contract §7). Throws `ImportRefused`. */
export function importFile(service: Service, source: Readable): Promise<ImportSummary> {
  // A file that is not there says so before its lines are asked for, who then get to know it.
  source.on('error', () => undefined);
  return importRecords(service, (problems) => readLines(source, problems));
}

/** The summary for people: a line a type. */
export function importText({ imported, deleted }: ImportSummary): string {
  const lines = Object.entries(imported).map(([type, count]) => `${type}  ${count}`);
  return `${[...lines, ...(deleted > 0 ? [`deleted  ${deleted}`] : [])].join('\n') || 'The file has no records.'}\n`;
}
