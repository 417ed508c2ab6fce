import { afterAll, beforeAll, describe } from 'vitest';
import { bodyRequest } from '../../support/fuzz/bodies.ts';
import { headerRequest } from '../../support/fuzz/headers.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { queryRequest, streamRequest } from '../../support/fuzz/queries.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';

/** Kinds of requests, each with its part of all cases. */
const KINDS = [
  ['odd queries of every read', 0.4, queryRequest],
  ['odd positions and patterns of the stream', 0.02, streamRequest],
  ['odd bodies of every write', 0.38, bodyRequest],
  ['odd headers on every route', 0.09, headerRequest],
] as const;

describe('requests that are wrong', () => {
  const service = new FuzzedService();
  beforeAll(() => service.open());
  afterAll(() => service.close());

  for (const [name, share, cases] of KINDS) {
    fuzz(name, {
      share,
      cases,
      renew: () => service.renew(),
      judge: async (request) => {
        await service.judge(request);
      },
    });
  }
});
