import type { ReadContext, WallClock } from '../../catalog/fields/kind.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { readFields } from '../../catalog/record.ts';
import { instantIn } from '../zones.ts';
import type { RecordKind } from './kinds.ts';
import type { ImportLine } from './lines.ts';
import type { KnownOrganization } from './organizations.ts';
import type { Places } from './places.ts';

/** What a line says depends on a place of which no line has told yet: the zone of a local time, or where an operatory is. */
export class PlaceUnknown extends Error {}

/** What is known of places while a line is read; `last`: all lines have been, and what is unknown stays so. */
interface Surroundings {
  readonly places: Places;
  readonly last?: boolean;
}

/** What a line gives, read, and what is wrong with it. */
interface Reading {
  readonly context: ReadContext;
  readonly values: Record<string, unknown>;
}

type Given = ImportLine['record'];

/** What a line has beside the fields of its kind. */
const BESIDES: ReadonlySet<string> = new Set(['type', 'organizationId', 'deleted']);

function readValues(kind: RecordKind, given: Given, instantOf: (wall: WallClock) => number): Reading {
  const context: ReadContext = { mode: 'import', problems: [], warnings: [], instantOf };
  return { context, values: readFields(kind.fields, given, context, '', BESIDES) };
}

/** A line has a local time; what it says can be read when its zone has been looked up. */
const LOCAL_TIME = Symbol('local time');

/** Reads the values of a line without local times, as most are; undefined for one that has any. */
export function readTimeless(kind: RecordKind, given: Given): Reading | undefined {
  try {
    return readValues(kind, given, () => {
      throw LOCAL_TIME;
    });
  } catch (error) {
    if (error !== LOCAL_TIME) throw error;
    return undefined;
  }
}

/**
 * Reads the values of a line with local times: they stand in the zone of the record's location, else of the organization
 * (D7). Throws `PlaceUnknown` while no line has told of that.
 */
export async function readLocal(
  { places, last }: Surroundings,
  kind: RecordKind,
  organization: KnownOrganization,
  given: Given,
): Promise<Reading> {
  const zone = await zoneOf(places, organization, given);
  return readValues(kind, given, (wall) => {
    if (zone === undefined && last !== true) throw new PlaceUnknown();
    return instantIn(zone ?? organization.timezone)(wall);
  });
}

async function zoneOf(places: Places, organization: KnownOrganization, given: Given): Promise<string | undefined> {
  const location = idOf(given.location);
  const operatory = idOf(given.operatory);
  if (location === undefined && operatory === undefined) return organization.told ? organization.timezone : undefined;
  const at = location ?? (await places.find(organization.org, 'Operatory', operatory))?.location?.id;
  const place = await places.find(organization.org, 'Location', at);
  if (place === undefined) return undefined;
  return place.timezone ?? (organization.told ? organization.timezone : undefined);
}

/** An appointment is at the location of its operatory (D27). Throws `PlaceUnknown` while no line has told of that. */
export async function requireOperatory(
  { places, last }: Surroundings,
  { org }: KnownOrganization,
  values: Record<string, unknown>,
): Promise<void> {
  const id = idOf(values.operatory);
  if (last === true || id === undefined) return;
  if ((await places.find(org, 'Operatory', id)) === undefined) throw new PlaceUnknown();
}

/** The id of a link as a line has it; undefined where there is none. */
function idOf(link: unknown): number | undefined {
  return asId((link as { id?: unknown } | null | undefined)?.id);
}
