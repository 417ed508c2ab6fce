import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/catalog/define.ts';
import { refusalOf } from '../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operations, operationsThat, type TestedOperation } from './operations.ts';

const RATE = 2;
const service = sharedService(undefined, { rateLimit: RATE });

/** Bulk reads, the tag list, totals, everything of events and async endpoints (specification, Limits; D43). */
function isLimited({ path, shape }: Operation): boolean {
  return path.startsWith('/events') || ['list', 'count', 'async', 'report'].includes(shape);
}

/** Fills every bucket again. */
const rest = () => service.clock.advance(60_000);

async function statuses(tested: TestedOperation, times: number): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < times; turn++) found.push((await callSample(service, tested, { id: 'abc' })).status);
  return found;
}

describe.each(operations().filter(([, { operation }]) => isLimited(operation)))('%s', (_id, tested) => {
  it('answers twice the rate at once, then 429 until time has passed (D43)', async () => {
    rest();
    expect(await statuses(tested, RATE * 2)).not.toContain(429);
    const called = await callSample(service, tested, { query: { filter: 'nosuch', pageSize: 'x' } });
    expect(refusalOf(called)).toEqual({ status: 429, errors: ['limit.rate null'] });
    expect(called.headers['retry-after']).toBe('1');
    expect(called.headers).toMatchObject({ 'ratelimit-limit': String(RATE * 2), 'ratelimit-remaining': '0' });
    service.clock.advance(1000);
    expect((await statuses(tested, RATE + 1)).map((status) => status === 429)).toEqual([false, false, true]);
  });
});

describe.each(operationsThat((operation) => !isLimited(operation)))('%s', (_id, tested) => {
  it('is not limited', async () => {
    rest();
    expect(await statuses(tested, RATE * 2 + 3)).not.toContain(429);
  });
});

describe('the rate limit', () => {
  const list = (token: string, path = '/patients', organization = ORGANIZATION) =>
    service.call('GET', path, { token, organization });
  const drain = async (token: string = TOKENS.read) => {
    rest();
    for (let turn = 0; turn < RATE * 2; turn++) await list(token);
  };

  it('is shared by the operations, and each token has its own', async () => {
    await drain();
    expect((await list(TOKENS.read, '/documents')).status).toBe(429);
    expect((await list(TOKENS.read, `/patients/${70_000_000_000_101}`)).status).toBe(200);
    expect((await list(TOKENS.full)).status).toBe(200);
  });

  it('is one for each organization that a token is for', async () => {
    await drain(TOKENS.both);
    expect((await list(TOKENS.both)).status).toBe(429);
    expect((await list(TOKENS.both, '/patients', OTHER_ORGANIZATION)).status).toBe(200);
  });

  it('comes after identity, scope and route (D2), and costs those who may not call nothing', async () => {
    await drain();
    expect((await service.call('GET', '/patients', { token: TOKENS.read, organization: null })).status).toBe(400);
    expect((await service.call('GET', '/nosuch', { token: TOKENS.read })).status).toBe(404);
    for (let turn = 0; turn < 10; turn++) expect((await list(TOKENS.practice)).status).toBe(403);
  });
});
