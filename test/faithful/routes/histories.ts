import { lastYear } from '../automatic.ts';
import { type Bulk, count, list, single } from '../bulk.ts';
import type { Route } from '../call.ts';
import { RANGE } from '../filter.ts';
import { historiesMeta } from '../meta.ts';
import { id, instant } from '../values.ts';

const HISTORIES: Bulk = {
  resource: 'appointmenthistories',
  keys: {
    'appointment.id': { operators: ['==', '->'], kind: id },
    lastModified: { operators: RANGE, kind: instant },
  },
  automatic: lastYear('lastModified', ['lastModified'], true),
  wide: 'wideEverywhere',
  meta: historiesMeta,
};

export const HISTORY_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/appointmenthistories',
    query: ['filter', 'page', 'pageSize', 'responseFields'],
    answer: (call) => list(HISTORIES, call),
  },
  {
    method: 'GET',
    path: '/appointmenthistories/totalcount',
    query: ['filter'],
    answer: (call) => count(HISTORIES, call),
  },
  {
    method: 'GET',
    path: '/appointmenthistories/{appointmentHistoryId}',
    query: ['responseFields'],
    answer: (call) => single(HISTORIES, call, 'appointmentHistoryId'),
  },
];
