import { quoted } from '../names.ts';
import type { MirrorTable } from '../tables.ts';

/** SQL: the ids of all locations that records name, those too that are not published yet. */
export function locationsQuery(tables: readonly MirrorTable[]): string {
  const links = tables.flatMap(({ name, resource, columns }) =>
    columns
      .filter(({ path }) => /^(preferredL|l)ocation$/.test(path[0] ?? ''))
      .flatMap((column) => [
        `SELECT ${quoted(column.name)} AS id FROM ${quoted(name)}`,
        `SELECT json_extract(record, '$.${column.field}') FROM _staged WHERE resource = '${resource.name}'`,
        `SELECT json_extract(payload, '$.${column.field}') FROM _received WHERE resource = '${resource.name}'`,
      ]),
  );
  return `SELECT DISTINCT CAST(id AS INTEGER) FROM (${links.join(' UNION ALL ')}) WHERE id IS NOT NULL ORDER BY 1`;
}
