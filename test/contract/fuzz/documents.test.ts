import { afterAll, beforeAll, describe } from 'vitest';
import type { Called, WireRecord } from '../../support/calls.ts';
import { documentRequest } from '../../support/fuzz/documents.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';

describe('odd documents', () => {
  const service = new FuzzedService(true);
  beforeAll(() => service.open());
  afterAll(() => service.close());

  /** Every file of a document that was taken can be fetched. */
  async function fetchFiles({ body }: Called): Promise<void> {
    const { storage } = body.data as { storage: WireRecord };
    for (const url of Object.values(storage)) {
      if (typeof url !== 'string') continue;
      const { status, text } = await service.current.call('GET', url);
      if (status !== 200) throw new Error(`${url} is answered ${status} ${text}`);
    }
  }

  fuzz('POST of a document', {
    share: 0.07,
    cases: documentRequest,
    renew: () => service.renew(),
    judge: async (request) => {
      const called = await service.judge(request);
      if (called.status === 201) await fetchFiles(called);
    },
  });
});
