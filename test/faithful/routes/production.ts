import { idOf } from '../bodies.ts';
import type { Call, Reply, Route } from '../call.ts';
import { EQUAL, type Keys, LINK, readFilter } from '../filter.ts';
import { matches } from '../matching.ts';
import { decline, refuse } from '../refusal.ts';
import { project, readFields } from '../responsefields.ts';
import type { Fields } from '../store.ts';
import { date, flag, id, location, type ValueKind, whole } from '../values.ts';
import { addDays, dayOf, isZone } from '../zones.ts';

const zone: ValueKind = {
  read: (written, key) => (isZone(written) ? written : refuse(`${key} takes an IANA time zone, not ${written}.`)),
  of: String,
};

const KEYS: Keys = {
  fromDate: { operators: EQUAL, kind: date },
  'location.id': { operators: LINK, kind: location },
  'provider.id': { operators: ['==', '->'], kind: id },
  'patient.id': { operators: ['==', '->'], kind: id },
  'appointment.id': { operators: ['==', '->'], kind: id, field: 'id' },
  range: { operators: EQUAL, kind: whole(1, 31) },
  timezone: { operators: EQUAL, kind: zone },
  isPrimaryWriteOff: { operators: EQUAL, kind: flag },
};

const ASYNC_KEYS: Keys = { ...KEYS, 'location.id': { operators: ['==', '->'], kind: location } };
const OF_RECORDS = ['location.id', 'provider.id', 'patient.id', 'appointment.id'];
const EXCLUSIVE = ['provider.id', 'patient.id', 'appointment.id'];
const AT_ONCE = 10;

const DEPRECATED = {
  title: 'Deprecated filter',
  description: 'Filter isPrimaryWriteOff is deprecated.',
  source: 'isPrimaryWriteOff',
};

export const PRODUCTION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/locationproductionnetschedule',
    query: ['filter', 'responseFields'],
    answer: (call) => report(call, KEYS),
  },
  {
    method: 'GET',
    path: '/locationproductionnetschedule/async',
    query: ['filter', 'responseFields', 'lastId', 'page', 'pageSize'],
    answer: (call) => {
      const reply = report(call, ASYNC_KEYS);
      return { ...reply, data: (reply.data as unknown[]).slice(0, AT_ONCE) };
    },
  },
];

function report(call: Call, keys: Keys): Reply {
  const { world, query } = call;
  const terms = readFilter(query.get('filter') ?? refuse('fromDate and location.id are required.'), keys);
  const firstOf = (name: string) => terms.find(({ key }) => key === name)?.values[0];
  const from = String(firstOf('fromDate') ?? refuse('fromDate and location.id are required.'));
  const exclusive = terms.filter(({ key }) => EXCLUSIVE.includes(key));
  if (exclusive.length > 1) refuse(`${exclusive.map(({ key }) => key).join(', ')} exclude each other.`);
  if (world.moods.requireLocation && firstOf('location.id') === undefined) decline(400, 'location.id is required.');
  const to = addDays(from, Number(firstOf('range') ?? 1));
  const narrowing = terms.filter(({ key }) => OF_RECORDS.includes(key));
  const data = world.practice.shelves.appointments
    .all()
    .filter(({ record }) => {
      const day = dayOf(Date.parse(String(record.start)), String(firstOf('timezone') ?? zoneOf(call, record)));
      return day >= from && day < to && matches(record, narrowing, keys, true);
    })
    .map(({ record }) => ({ date: record.start, scheduledAmount: record.scheduledAmount }));
  if (data.length === 0 && world.moods.emptyReports === 'notFound') decline(404, 'No data matches the filters.');
  const fields = readFields(call, ['date', 'scheduledAmount']);
  const warnings = firstOf('isPrimaryWriteOff') === undefined ? [] : [DEPRECATED];
  return { data: data.map((item) => project(item, fields)), warnings };
}

function zoneOf({ world }: Call, record: Fields): string {
  const place = idOf(record.location);
  return world.practice.locations.find(({ id: one }) => one === place)?.zone ?? world.practice.zone;
}
