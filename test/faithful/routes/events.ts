import { lastYear } from '../automatic.ts';
import { readBody } from '../bodies.ts';
import { atOnce, type Bulk, count, list, single } from '../bulk.ts';
import { type Call, change, create, type Reply, type Route, recordOf, stamp } from '../call.ts';
import { checkPlaces, EVENT_FIELDS, recurrenceOf, timed } from '../events.ts';
import { EQUAL, LINK, RANGE, WORDS } from '../filter.ts';
import { lastIdMeta } from '../meta.ts';
import { NOT_RECURRING } from '../practice/calendar.ts';
import { refuse } from '../refusal.ts';
import { project, readFields } from '../responsefields.ts';
import { addSeries, followingOf, reshape, shiftSeries } from '../series.ts';
import type { Stored } from '../store.ts';
import { id, instant, location, text } from '../values.ts';

const EVENTS: Bulk = {
  resource: 'events',
  keys: {
    id: { operators: ['->'], kind: id },
    title: { operators: WORDS, kind: text },
    start: { operators: RANGE, kind: instant },
    'operatory.id': { operators: LINK, kind: id },
    'location.id': { operators: LINK, kind: location },
    'provider.id': { operators: LINK, kind: id },
    lastModified: { operators: RANGE, kind: instant },
    groupId: { operators: EQUAL, kind: text },
  },
  automatic: lastYear('lastModified', ['lastModified', 'start'], false),
  wide: 'wideEverywhere',
  location: 'location.id',
  fields: ['id', 'type', 'end', 'lastModified', 'groupId', ...Object.keys(EVENT_FIELDS)],
  meta: lastIdMeta,
};

const QUERY = ['filter', 'responseFields', 'page', 'pageSize', 'lastId'];
const PATH = '/events/{eventId}';

export const EVENT_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/events', query: QUERY, answer: (call) => list(EVENTS, call) },
  { method: 'GET', path: '/events/async', query: QUERY, answer: (call) => atOnce(EVENTS, call) },
  { method: 'GET', path: '/events/totalcount', query: ['filter'], answer: (call) => count(EVENTS, call, 'total') },
  { method: 'GET', path: PATH, query: ['responseFields'], answer: (call) => single(EVENTS, call, 'eventId') },
  { method: 'POST', path: '/events', query: [], answer: add },
  { method: 'PUT', path: PATH, query: ['recurrenceTarget', 'responseFields'], answer: update },
  { method: 'DELETE', path: PATH, query: ['recurrenceTarget'], answer: remove },
];

const DEFAULTS = { description: null, duration: 60, allDay: false, color: 'bbbbbb', operatory: null, provider: null };

function add({ world, body }: Call): Reply {
  const sent = readBody(body, EVENT_FIELDS, ['title', 'start', 'location']);
  const recurrence = recurrenceOf(sent);
  const fields = { ...DEFAULTS, type: 'EventV1', groupId: null, ...NOT_RECURRING, ...sent, ...recurrence };
  checkPlaces(world, fields);
  const event = { ...fields, ...timed(world, fields), lastModified: stamp(world) };
  return { status: 201, data: recurrence ? addSeries(world, event) : create(world, 'events', event).record };
}

function update(call: Call): Reply {
  const { world } = call;
  const stored = recordOf(call, 'events', 'eventId');
  const target = targetOf(call) ?? refuse('recurrenceTarget is required: SERIES or OCCURRENCE.');
  const { location: ignored, ...sent } = readBody(call.body, EVENT_FIELDS);
  const recurrence = recurrenceOf(sent);
  if (recurrence && target === 'OCCURRENCE') refuse('Recurrence properties require recurrenceTarget SERIES.');
  const wanted = { ...stored.record, ...sent, ...recurrence };
  checkPlaces(world, { ...sent, location: stored.record.location });
  const event = { ...wanted, ...timed(world, wanted), lastModified: stamp(world) };
  if (target === 'SERIES') shiftSeries(world, stored, sent, event);
  if (recurrence) reshape(world, stored, event);
  else change(world, 'events', stored, event);
  const { record } = world.practice.shelves.events.get(stored.id) as Stored;
  const warning = { title: 'Ignored', description: 'location cannot be changed.', source: 'location' };
  return {
    data: project(record, readFields(call, EVENTS.fields)),
    warnings: ignored === undefined ? [] : [warning],
  };
}

function remove(call: Call): Reply {
  const { world } = call;
  const stored = recordOf(call, 'events', 'eventId');
  const target = targetOf(call);
  if (stored.record.groupId !== null && !target) refuse('recurrenceTarget is required for an event of a series.');
  const going = target === 'SERIES' ? followingOf(world, stored) : [stored];
  for (const event of going) world.practice.shelves.events.remove(event.id);
  return { data: { id: stored.id } };
}

function targetOf({ query }: Call): 'SERIES' | 'OCCURRENCE' | undefined {
  const target = query.get('recurrenceTarget');
  if (target === undefined || target === 'SERIES' || target === 'OCCURRENCE') return target;
  return refuse(`recurrenceTarget takes SERIES or OCCURRENCE, not ${target}.`);
}
