import { expect, it } from 'vitest';
import { buildApp } from '../../../src/server/http/app.ts';
import { rateLimitOfShares } from '../../../src/server/http/ratelimit.ts';
import { openLog } from '../../../src/server/log.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';

it('gives back to the rate limit what it took for a request that another process answers (D59)', async () => {
  const { service, close } = await testService(bareRecords());
  let taken = 0;
  const app = await buildApp(service, {
    log: openLog('info', { write: () => undefined }),
    timeouts: { requestMs: 60_000 },
    behindProxy: false,
    rateLimit: 5,
    process: {
      attempts: 1,
      ofOthers: async () => [],
      limit: rateLimitOfShares(5, async () => ({ granted: 1, tokens: 10 - ++taken })),
      handOver: { has: () => true, give: (_request, response) => void response.writeHead(404).end() },
      ending: async () => undefined,
    },
  });
  try {
    const headers = { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };
    const ask = (url: string) => app.inject({ method: 'GET', url: `/api/v1/patients${url}`, headers });
    for (let turn = 0; turn < 3; turn++) expect((await ask('?filter=nosuch==1')).statusCode).toBe(404);
    expect(taken).toBe(1);
    for (let turn = 0; turn < 3; turn++) expect((await ask('')).statusCode).toBe(200);
    expect(taken).toBe(3);
  } finally {
    await app.close();
    await close();
  }
});
