import { recentTags } from '../automatic.ts';
import { boolean, oneOf as exactly, readBody, string } from '../bodies.ts';
import { type Bulk, list, single } from '../bulk.ts';
import { type Call, create, type Reply, type Route, recordOf } from '../call.ts';
import { WORDS } from '../filter.ts';
import { usualMeta } from '../meta.ts';
import { id, oneOf, text } from '../values.ts';

const TYPES = ['PAYMENT_TAG', 'ADJUSTMENT_TAG'] as const;

const TAGS: Bulk = {
  resource: 'transactiontags',
  keys: {
    id: { operators: ['->'], kind: id },
    tagText: { operators: WORDS, kind: text },
    tagType: { operators: ['==', '!='], kind: oneOf(...TYPES) },
  },
  automatic: recentTags,
  fields: ['id', 'tagText', 'isPredefined', 'tagType'],
  meta: usualMeta,
};

export const TAG_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/transactiontags',
    query: ['filter', 'responseFields', 'page', 'pageSize', 'lastId'],
    answer: (call) => list(TAGS, call),
  },
  {
    method: 'GET',
    path: '/transactiontags/{transactionTagId}',
    query: ['responseFields'],
    answer: (call) => single(TAGS, call, 'transactionTagId'),
  },
  { method: 'POST', path: '/transactiontags', query: [], answer: add },
  { method: 'DELETE', path: '/transactiontags/{transactionTagId}', query: [], answer: remove },
];

function add({ world, body }: Call): Reply {
  const readers = { tagText: string(1, 30), isPredefined: boolean, tagType: exactly(...TYPES) };
  const sent = readBody(body, readers, ['tagText', 'isPredefined', 'tagType']);
  return { status: 201, data: create(world, 'transactiontags', sent).record };
}

function remove(call: Call): Reply {
  const { id: tag, record } = recordOf(call, 'transactiontags', 'transactionTagId');
  call.world.practice.shelves.transactiontags.remove(tag);
  return { data: record };
}
