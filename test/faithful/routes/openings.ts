import type { Call, Reply, Route } from '../call.ts';
import { EQUAL, type Keys, readFilter } from '../filter.ts';
import { BOOKING_TYPES } from '../practice/words.ts';
import { hashOf } from '../random.ts';
import { refuse } from '../refusal.ts';
import type { Comparable } from '../values.ts';
import { date, id, location, oneOf, whole } from '../values.ts';
import { addDays, instantOf } from '../zones.ts';

const KEYS: Keys = {
  'location.id': { operators: EQUAL, kind: location },
  startDate: { operators: EQUAL, kind: date },
  endDate: { operators: EQUAL, kind: date },
  'operatory.id': { operators: ['==', '->'], kind: id },
  'provider.id': { operators: ['==', '->'], kind: id },
  minOpeningLength: { operators: EQUAL, kind: whole(5, 1440) },
  'booking.type': { operators: ['==', '->'], kind: oneOf(...BOOKING_TYPES) },
  'reason.id': { operators: ['==', '->'], kind: id },
};

export const OPENING_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/scheduleopenings', query: ['filter'], answer: openings },
];

const NINE = 9 * 60;

function openings({ world, query }: Call): Reply {
  const terms = readFilter(query.get('filter') ?? refuse('filter is required.'), KEYS);
  const valuesOf = (name: string) => terms.find(({ key }) => key === name)?.values;
  const one = (name: string) => valuesOf(name)?.[0] ?? refuse(`${name} is required.`);
  const [place, from, to] = [one('location.id'), String(one('startDate')), String(one('endDate'))];
  if (to < from) refuse('endDate is before startDate.');
  const { locations, operatories, providers } = world.practice;
  const wanted = (name: string, value: number) => valuesOf(name)?.includes(value) ?? true;
  const least = Number(valuesOf('minOpeningLength')?.[0] ?? 5);
  const data: unknown[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) {
    for (const { id: operatory, location: at } of operatories) {
      const zone = locations.find(({ id: found }) => found === at)?.zone ?? world.practice.zone;
      const provider = providers[hashOf(`${day} ${operatory}`) % providers.length]?.id ?? 0;
      const length = 15 * (1 + (hashOf(`${operatory} ${day}`) % 8));
      const here = (place === 'ALL' || place === at) && wanted('operatory.id', operatory);
      if (!here || !wanted('provider.id', provider) || length < least) continue;
      const reasons = reasonsAt(at, valuesOf('reason.id'));
      const start = instantOf(day, NINE, zone);
      const slots = [slot(start, length, reasons)];
      if (reasons) data.push({ provider: { id: provider }, operatory: { id: operatory }, day, slots });
    }
  }
  return { data };

  /** Reasons of a location that the request wants; undefined when it wants others. */
  function reasonsAt(at: number, asked: readonly Comparable[] | undefined): readonly number[] | undefined {
    const known = world.practice.shelves.scheduletemplatereasons
      .all()
      .filter(({ record }) => (record.location as { id: number }).id === at)
      .map(({ id: reason }) => reason)
      .filter((reason) => asked?.includes(reason) ?? true);
    return asked && known.length === 0 ? undefined : known.slice(0, 1);
  }
}

function slot(start: number, minutes: number, reasons: readonly number[] | undefined) {
  return {
    start: new Date(start).toISOString(),
    end: new Date(start + minutes * 60_000).toISOString(),
    scheduleTemplateBookingType: [],
    scheduleTemplateReason: (reasons ?? []).map((reason) => ({ id: reason })),
  };
}
