import { type Bulk, count, list, single } from '../bulk.ts';
import type { Route } from '../call.ts';
import { RANGE } from '../filter.ts';
import { lastIdMeta } from '../meta.ts';
import { id, instant } from '../values.ts';

const PLANS: Bulk = {
  resource: 'patientinsuranceplans',
  keys: {
    id: { operators: ['==', '->'], kind: id },
    'patient.id': { operators: ['==', '->'], kind: id },
    lastModified: { operators: RANGE, kind: instant },
  },
  meta: lastIdMeta,
};

export const PLAN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/patientinsuranceplans',
    query: ['filter', 'pageSize', 'lastId', 'page', 'responseFields'],
    answer: (call) => list(PLANS, call),
  },
  { method: 'GET', path: '/patientinsuranceplans/totalcount', query: ['filter'], answer: (call) => count(PLANS, call) },
  {
    method: 'GET',
    path: '/patientinsuranceplans/{patientInsurancePlanId}',
    query: ['responseFields'],
    answer: (call) => single(PLANS, call, 'patientInsurancePlanId'),
  },
];
