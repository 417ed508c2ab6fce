import { recentTransactions } from '../automatic.ts';
import { type Bulk, count, list, single } from '../bulk.ts';
import type { Route } from '../call.ts';
import { EQUAL, LINK, RANGE } from '../filter.ts';
import { transactionsMeta } from '../meta.ts';
import { LEDGER_TYPES } from '../practice/words.ts';
import { date, id, instant, location, oneOf } from '../values.ts';

const TRANSACTIONS: Bulk = {
  resource: 'transactions',
  keys: {
    id: { operators: ['->'], kind: id },
    ledgerType: { operators: ['==', '!='], kind: oneOf(...LEDGER_TYPES) },
    'patient.id': { operators: ['==', '->'], kind: id },
    'provider.id': { operators: EQUAL, kind: id },
    transactionDate: { operators: RANGE, kind: date },
    'location.id': { operators: LINK, kind: location },
    lastModified: { operators: RANGE, kind: instant },
  },
  filterRequired: true,
  automatic: recentTransactions,
  wide: 'wideEverywhere',
  meta: transactionsMeta,
};

export const TRANSACTION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/transactions',
    query: ['filter', 'responseFields', 'page', 'pageSize', 'lastId'],
    answer: (call) => list(TRANSACTIONS, call),
  },
  {
    method: 'GET',
    path: '/transactions/totalcount',
    query: ['filter'],
    answer: (call) => count(TRANSACTIONS, call, 'total'),
  },
  {
    method: 'GET',
    path: '/transactions/{transactionId}',
    query: ['responseFields'],
    answer: (call) => single(TRANSACTIONS, call, 'transactionId'),
  },
];
