import type { Names } from '../names/namesfile.ts';
import type { Zone } from '../names/zones.ts';

/** Which time zones the local times of a mirror are in (D56). */
export interface LocalZones {
  /** Of locations that have one of their own: id and IANA name. */
  readonly locations: readonly (readonly [id: string, zone: string])[];
  /** Of everything else. */
  readonly zone: string;
  /** Nobody named that one: it is that of this computer. */
  readonly isComputers: boolean;
}

/** The zones of the names file; `otherwise` of what it has none for. */
export function localZones(names: Names, { zone, origin }: Zone): LocalZones {
  const locations = names
    .locations()
    .flatMap(({ id, timezone }) => (timezone === undefined ? [] : [[id, timezone] as const]));
  return { locations, zone, isComputers: origin === 'computer' };
}

/** The same in a sentence, for whoever reads the views. */
export function zonesText({ locations, zone, isComputers }: LocalZones): string {
  const whose = isComputers ? ', the time zone of the computer that made it' : '';
  if (locations.length === 0) return `Local times are those of ${zone}${whose}.`;
  const own = locations.map(([id, name]) => `location ${id} ${name}`).join(', ');
  return `Local times are those of each location: ${own}; elsewhere ${zone}${whose}.`;
}
