import { afterAll, beforeAll, describe } from 'vitest';
import { bodyRequest } from '../../support/fuzz/bodies.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';

describe('odd bodies', () => {
  const service = new FuzzedService();
  beforeAll(() => service.open());
  afterAll(() => service.close());

  fuzz('every write', {
    share: 0.38,
    cases: bodyRequest,
    renew: () => service.renew(),
    judge: async (request) => {
      await service.judge(request);
    },
  });
});
