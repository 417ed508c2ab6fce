import { expect, it } from 'vitest';
import { ELSEWHERE, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';

/** Requests that the hostile organization has open all the time: each is followed by the next as soon as it is answered. */
const OPEN = 200;

/** How many answers of the hostile organization an honest request may see go before its own: without turns some 200. */
const FEW = 16;

const HONEST = { token: TOKENS.other, organization: OTHER_ORGANIZATION };

const service = sharedService(undefined, { rateLimit: 1 });

it('beside a flood of requests that are refused for their rate each of another organization is answered soon (contract §8)', async () => {
  let isOver = false;
  let refused = 0;
  const flood = Array.from({ length: OPEN }, async () => {
    while (!isOver) {
      const { status, headers } = await service.call('GET', '/patients');
      if (status !== 429) continue;
      refused++;
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });
  const before: number[] = [];
  for (let request = 0; request < 20; request++) {
    const already = refused;
    const { status } = await service.call('GET', `/patients/${ELSEWHERE.patient}`, HONEST);
    expect(status).toBe(200);
    before.push(refused - already);
  }
  isOver = true;
  await Promise.all(flood);
  expect(refused).toBeGreaterThan(OPEN);
  // The first one comes before the server knows that it is shared.
  expect(Math.max(...before.slice(1))).toBeLessThanOrEqual(FEW);
});
