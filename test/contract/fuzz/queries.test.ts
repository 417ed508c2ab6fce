import { afterAll, beforeAll, describe } from 'vitest';
import { fuzz } from '../../support/fuzz/plan.ts';
import { queryRequest, streamRequest } from '../../support/fuzz/queries.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';

describe('odd queries', () => {
  const service = new FuzzedService();
  beforeAll(() => service.open());
  afterAll(() => service.close());
  const renew = () => service.renew();

  fuzz('every read', {
    share: 0.4,
    cases: queryRequest,
    renew,
    judge: async (request) => {
      await service.judge(request);
    },
  });

  fuzz('the stream', {
    share: 0.02,
    cases: streamRequest,
    renew,
    judge: async (request) => {
      await service.judge(request);
    },
  });
});
