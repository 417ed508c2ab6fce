import sql from 'sql-template-tag';
import type { ReferenceRecord } from '../references.ts';
import type { Organization } from '../service.ts';
import type { Reader } from '../store/store.ts';

/** The time zone of each location of an organization; the organization's where a location has none, or there is none. */
export async function zonesOfLocations(
  read: Reader,
  { org, timezone }: Organization,
): Promise<(location: number | null) => string> {
  const rows = await read.all<{ json: string }>(
    sql`SELECT json FROM reference_records WHERE org = ${org} AND type = 'Location'`,
  );
  const zones = new Map(
    rows.map((row) => JSON.parse(row.json) as ReferenceRecord).map((place) => [place.id, place.timezone ?? timezone]),
  );
  return (location) => zones.get(location ?? 0) ?? timezone;
}
