import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../src/catalog/catalog.ts';
import { layoutOf, tableOf } from '../../../src/server/store/layout.ts';
import type { TestService } from '../service.ts';

const RECORDS = STORED_RESOURCES.map(tableOf);
const OTHERS = [
  ...STORED_RESOURCES.flatMap((resource) => layoutOf(resource).sides.map((side) => side.table)),
  'reference_records',
  'document_tags',
  'organizations',
  'access_tokens',
  'api_clients',
  'idempotency_keys',
  'file_removals',
];

/**
 * What is kept, as a text that changes whenever a record, a message of the stream, an audit entry of a change, a token
 * or a key does. Reads are left out: they leave their entries later.
 */
export async function marksOf({ service }: TestService): Promise<string> {
  const parts = [
    ...RECORDS.map((table) => `(SELECT COUNT(*) || '/' || COALESCE(SUM(LENGTH(json)), 0) FROM ${table})`),
    ...OTHERS.map((table) => `(SELECT COUNT(*) FROM ${table})`),
    `(SELECT SUM(last_id) FROM sequences)`,
    `(SELECT SUM(seq) FROM stream_heads)`,
    `(SELECT COUNT(*) FROM audit_entries WHERE operation LIKE '%.create' OR operation LIKE '%.update' OR operation LIKE '%.delete')`,
  ];
  const row = await service.store.read.get<{ marks: string }>(sql`SELECT ${raw(parts.join(` || ' ' || `))} AS marks`);
  return row?.marks ?? '';
}

/** Names of all files of the service, staged ones among them. */
export async function filesOf({ path }: TestService): Promise<string[]> {
  const entries = await readdir(join(path, 'files'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
