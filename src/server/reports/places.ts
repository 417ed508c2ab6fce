import sql from 'sql-template-tag';
import type { Organization } from '../organizations.ts';
import type { ReferenceRecord } from '../references.ts';
import type { Reader } from '../store/store.ts';

/** The time zones of the locations of an organization that have one, by location. */
export async function locationZones(read: Reader, org: number): Promise<ReadonlyMap<number, string>> {
  const rows = await read.all<{ json: string }>(
    sql`SELECT json FROM reference_records WHERE org = ${org} AND type = 'Location'`,
  );
  const places = rows.map(({ json }) => JSON.parse(json) as ReferenceRecord);
  return new Map(places.flatMap(({ id, timezone }) => (timezone == null ? [] : [[id, timezone]])));
}

/** The time zone of each location of an organization; the organization's where a location has none, or there is none. */
export async function zonesOfLocations(
  read: Reader,
  { org, timezone }: Organization,
): Promise<(location: number | null) => string> {
  const zones = await locationZones(read, org);
  return (location) => zones.get(location ?? 0) ?? timezone;
}
