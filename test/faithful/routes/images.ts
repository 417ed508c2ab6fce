import { atOnce, type Bulk } from '../bulk.ts';
import type { Route } from '../call.ts';
import { id } from '../values.ts';

const IMAGES: Bulk = {
  resource: 'imageattachments',
  keys: {
    id: { operators: ['==', '->'], kind: id },
    'insuranceClaim.id': { operators: ['==', '->'], kind: id },
  },
};

export const IMAGE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/imageattachments/async',
    query: ['filter', 'responseFields', 'lastId', 'page', 'pageSize'],
    answer: (call) => atOnce(IMAGES, call),
  },
];
