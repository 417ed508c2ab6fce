import { afterAll, beforeAll, describe } from 'vitest';
import { headerRequest } from '../../support/fuzz/headers.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';

describe('odd headers', () => {
  const service = new FuzzedService();
  beforeAll(() => service.open());
  afterAll(() => service.close());

  fuzz('every route', {
    share: 0.09,
    cases: headerRequest,
    renew: () => service.renew(),
    judge: async (request) => {
      await service.judge(request);
    },
  });
});
