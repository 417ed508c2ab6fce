import type { ReadContext, WallClock } from '../../catalog/fields/kind.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { readFields } from '../../catalog/record.ts';
import { type ReferenceRecord, referenceRecord } from '../references.ts';
import type { LocationFinder } from '../resources/behaviour.ts';
import type { Service } from '../service.ts';
import type { Reader } from '../store/store.ts';
import { instantIn } from '../zones.ts';
import type { RecordKind } from './kinds.ts';
import type { ImportLine } from './lines.ts';
import type { KnownOrganization } from './organizations.ts';

/** Maximum cached locations and operatories; a group of practices has some hundreds. */
const MAX_CACHED = 10_000;

/** Caches locations and operatories as the import has left them so far: most lines refer to one of a few. */
export class LocationCache implements LocationFinder {
  private readonly cache = new Map<string, ReferenceRecord | undefined>();

  /** `lookUp`: finds what is not cached. */
  constructor(private readonly lookUp: LocationFinder['find']) {}

  async find(
    org: number,
    type: 'Location' | 'Operatory',
    id: number | undefined,
  ): Promise<ReferenceRecord | undefined> {
    const key = keyOf(org, type, id);
    if (!this.cache.has(key)) {
      if (this.cache.size >= MAX_CACHED) this.cache.clear();
      this.cache.set(key, await this.lookUp(org, type, id));
    }
    return this.cache.get(key);
  }

  /** Evicts what a line writes or deletes. */
  evict(org: number, type: string, id: number): void {
    this.cache.delete(keyOf(org, type, id));
  }
}

/** Locations and operatories as they are stored. */
export function storedLocations(read: Reader): LocationCache {
  return new LocationCache((org, type, id) => referenceRecord(read, { org }, type, id));
}

function keyOf(org: number, type: string, id: number | undefined): string {
  return `${org} ${type} ${id}`;
}

/** A line depends on a location that is not imported yet: the zone of a local time, or where an operatory is. */
export class LocationUnknown extends Error {}

/** `last`: all lines have been read, and a location that is still unknown stays so. */
interface Locations {
  readonly locations: LocationCache;
  readonly last?: boolean;
}

/** What reading a line needs of the import. */
interface Reading extends Locations {
  readonly service: Pick<Service, 'maxText'>;
}

/** The values of a line, and its problems in the context. */
interface LineValues {
  readonly context: ReadContext;
  readonly values: Record<string, unknown>;
}

type Given = ImportLine['record'];

/** What a line has beside the fields of its kind. */
const BESIDES: ReadonlySet<string> = new Set(['type', 'organizationId', 'deleted']);

function readValues(
  kind: RecordKind,
  given: Given,
  maxText: number,
  instantOf: (wall: WallClock) => number,
): LineValues {
  const context: ReadContext = { mode: 'import', problems: [], warnings: [], instantOf, maxText };
  return { context, values: readFields(kind.fields, given, context, '', BESIDES) };
}

/** Thrown at a local time, whose zone must be looked up first. */
const LOCAL_TIME = Symbol('local time');

/** Reads a line without local times, as most are; undefined for one that has any. */
export function readWithoutLocalTimes({ service }: Reading, kind: RecordKind, given: Given): LineValues | undefined {
  try {
    return readValues(kind, given, service.maxText, () => {
      throw LOCAL_TIME;
    });
  } catch (error) {
    if (error !== LOCAL_TIME) throw error;
    return undefined;
  }
}

/** Reads a line with local times, in the zone of its location, else of the organization (D7). Throws `LocationUnknown`. */
export async function readWithLocalTimes(
  { locations, last, service }: Reading,
  kind: RecordKind,
  organization: KnownOrganization,
  given: Given,
): Promise<LineValues> {
  const zone = await zoneOf(locations, organization, given);
  return readValues(kind, given, service.maxText, (wall) => {
    if (zone === undefined && last !== true) throw new LocationUnknown();
    return instantIn(zone ?? organization.timezone)(wall);
  });
}

async function zoneOf(
  locations: LocationCache,
  { org, defined, timezone }: KnownOrganization,
  given: Given,
): Promise<string | undefined> {
  const own = defined ? timezone : undefined;
  const location = idOf(given.location);
  const operatory = idOf(given.operatory);
  if (location === undefined && operatory === undefined) return own;
  const id = location ?? (await locations.find(org, 'Operatory', operatory))?.location?.id;
  const found = await locations.find(org, 'Location', id);
  return found && (found.timezone ?? own);
}

/** An appointment is at the location of its operatory (D27). Throws `LocationUnknown` while that is not imported yet. */
export async function requireOperatory(
  { locations, last }: Locations,
  { org }: KnownOrganization,
  values: Record<string, unknown>,
): Promise<void> {
  const id = idOf(values.operatory);
  if (last === true || id === undefined) return;
  if ((await locations.find(org, 'Operatory', id)) === undefined) throw new LocationUnknown();
}

/** The id of a link as a line has it; undefined where there is none. */
function idOf(link: unknown): number | undefined {
  return asId((link as { id?: unknown } | null | undefined)?.id);
}
