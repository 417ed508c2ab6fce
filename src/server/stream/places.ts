import { NO_LOCATION } from '../../catalog/stream/domains.ts';
import type { RoutingKey } from '../../catalog/stream/routingkeys.ts';
import { EVERYWHERE } from '../store/reach.ts';

/** Who sees a message of those who are bound to locations (contract §8); it is stored beside the message. */
export interface Places {
  /**
   * The location of its record, `was>is` of one that has moved, or `a&b` for those who see all of them; 0: everybody,
   * empty: nobody who is bound.
   */
  readonly places: string;
  /** JSON of the whole record where it has moved: for some it is new. */
  readonly record: string | null;
}

/** The places of one location, as `locationOf` has it; null: nobody knows it. */
export function placesAt(location: number | null): Places {
  return { places: location === null ? '' : String(location), record: null };
}

/** The places of what tells of several locations at once; undefined: of all that there are. */
export function placesOfAll(locations: readonly number[] | undefined): Places {
  return { places: locations === undefined ? '' : [EVERYWHERE, ...locations].join('&'), record: null };
}

/** What is sent of a message. */
interface Told {
  readonly key: RoutingKey;
  /** JSON text. */
  readonly payload: string;
}

/**
 * A message as those see it who are bound to some locations: a record that moves away is deleted for them, with its id
 * alone, and one that comes is new. Undefined when they do not see it. `places` is null for what was stored before
 * places were: then the routing key's location counts, and what has none, which says `*`, is not seen.
 */
export function toldIn(
  { key, payload }: Told,
  { places, record }: { readonly places: string | null; readonly record: string | null },
  locations: ReadonlySet<number>,
): Told | undefined {
  const [was = '', is = was] = (places ?? key.locationId).split('>');
  const seen = (place: string) =>
    place !== '' && place.split('&').every((id) => Number(id) === EVERYWHERE || locations.has(Number(id)));
  if (seen(is))
    return seen(was) || record === null ? { key, payload } : { key: { ...key, operation: 'CREATE' }, payload: record };
  if (!seen(was)) return undefined;
  const { id, ledgerType } = JSON.parse(payload) as { id: number; ledgerType?: string };
  const locationId = key.locationId === NO_LOCATION || Number(was) === EVERYWHERE ? NO_LOCATION : was;
  return { key: { ...key, locationId, operation: 'DELETE' }, payload: JSON.stringify({ id, ledgerType }) };
}
