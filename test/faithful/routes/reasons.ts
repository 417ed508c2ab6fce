import type { Call, Reply, Route } from '../call.ts';
import { EQUAL, readFilter } from '../filter.ts';
import { matches } from '../matching.ts';
import { refuse } from '../refusal.ts';
import { id } from '../values.ts';

const KEYS = { 'location.id': { operators: EQUAL, kind: id } };

/** Reasons are answered at once: lastId and pageSize are taken and ignored. */
export const REASON_ROUTES: readonly Route[] = [
  { method: 'GET', path: '/scheduletemplatereasons', query: ['filter', 'lastId', 'pageSize'], answer: reasons },
];

function reasons({ world, query }: Call): Reply {
  const terms = readFilter(query.get('filter') ?? refuse('filter is required.'), KEYS);
  const all = world.practice.shelves.scheduletemplatereasons.all();
  return { data: all.filter(({ record }) => matches(record, terms, KEYS, true)).map(({ record }) => record) };
}
