import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe } from 'vitest';
import { complaintsAbout } from '../../support/fuzz/answers.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';
import { answersIn, exchange, rawRequest } from '../../support/fuzz/sockets.ts';

describe('odd bytes', () => {
  const service = new FuzzedService(false, 2_000);
  const open = () => service.app.listen({ host: '127.0.0.1', port: 0 });
  beforeAll(async () => {
    await service.open();
    await open();
  });
  afterAll(() => service.close());

  fuzz('a connection', {
    share: 0.02,
    cases: rawRequest,
    renew: async () => {
      await service.renew();
      await open();
    },
    judge: async ({ method, bytes }) => {
      const { port } = service.app.server.address() as AddressInfo;
      const answers = answersIn(await exchange(port, bytes, true), method === 'HEAD');
      const complaints = answers.flatMap((answer, index) =>
        complaintsAbout(answer, method === 'HEAD' && index === 0 && answer.text === ''),
      );
      service.throwFaults(complaints);
      if (answers.every(({ status }) => status >= 300)) await service.mustBeUnchanged(answers[0]?.status ?? 0);
      else await service.delivered();
    },
  });
});
