import { beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, refusalOf } from '../support/calls.ts';
import { dump } from '../support/dump.ts';
import { TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operationsThat, sample } from './operations.ts';

const service = sharedService();
const DAY = 24 * 60 * 60 * 1000;
const KEYS = 'idempotency_keys';

/** What the store holds beside the keys themselves. */
async function records(): Promise<Record<string, string[]>> {
  const { [KEYS]: _, ...rest } = await dump(service.service);
  return rest;
}

describe.each(operationsThat((operation) => operation.method === 'POST'))(
  'Idempotency-Key on %s (D46)',
  (id, tested) => {
    let body: unknown;
    beforeEach(() => {
      body = sample(tested).body;
    });
    const send = (key: string, options: CallOptions = {}) =>
      callSample(service, tested, { body, ...options, headers: { 'idempotency-key': key } });

    it('gives the first answer again and does nothing', async () => {
      const first = await send(`${id}-same`);
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([tested.operation.success, undefined]);
      const stored = await records();
      service.clock.advance(1000);
      for (let turn = 0; turn < 2; turn++) {
        const again = await send(`${id}-same`);
        expect([again.status, again.text]).toEqual([first.status, first.text]);
        expect(again.headers['idempotency-replayed']).toBe('true');
      }
      expect(await records()).toEqual(stored);
      expect(await service.service.files.leftovers()).toEqual([]);
    });

    it('refuses the same key with another body', async () => {
      await send(`${id}-other`);
      const other = { ...(body as object), note: 'another' };
      const called = await send(`${id}-other`, { body: tested.operation.bodyIsArray ? [] : other });
      expect(refusalOf(called)).toEqual({ status: 400, errors: ['idempotency.body_differs Idempotency-Key'] });
      expect(await service.service.files.leftovers()).toEqual([]);
    });

    it('is not used up by a request that is refused', async () => {
      const wrong = tested.operation.bodyIsArray ? [5] : { nosuch: 1 };
      expect((await send(`${id}-refused`, { body: wrong })).status).toBe(400);
      expect((await send(`${id}-refused`, { token: TOKENS.read })).status).toBe(403);
      const called = await send(`${id}-refused`);
      expect([called.status, called.headers['idempotency-replayed']]).toEqual([tested.operation.success, undefined]);
    });

    it('is one key for a token, and is kept for 24 hours', async () => {
      const fresh = async (options?: CallOptions) =>
        (await send(`${id}-kept`, options)).headers['idempotency-replayed'] !== 'true';
      expect(await fresh()).toBe(true);
      expect(await fresh({ token: TOKENS.write })).toBe(true);
      service.clock.advance(DAY - 1);
      expect(await fresh()).toBe(false);
      service.clock.advance(1);
      expect(await fresh()).toBe(true);
    });

    it('answers 409 while the first request runs', async () => {
      const both = await Promise.all([send(`${id}-race`), send(`${id}-race`)]);
      expect(both.map((called) => called.status).sort()).toEqual([tested.operation.success, 409]);
      const refused = both.find((called) => called.status === 409);
      expect(refused?.headers['retry-after']).toMatch(/^\d+$/);
      expect(refused?.body.errors[0]).toMatchObject({ code: 'idempotency.running', source: 'Idempotency-Key' });
      expect((await send(`${id}-race`)).headers['idempotency-replayed']).toBe('true');
    });

    it.each(['', ' ', 'with space', 'x'.repeat(256), 'k\u00e9y'])('refuses the key %j', async (key) => {
      expect(refusalOf(await send(key))).toEqual({ status: 400, errors: ['idempotency.key Idempotency-Key'] });
    });

    it('may have 255 characters', async () => {
      expect((await send('x'.repeat(255))).status).toBe(tested.operation.success);
    });
  },
);

describe('an Idempotency-Key', () => {
  it('is one key for each route', async () => {
    const posts = operationsThat((operation) => operation.method === 'POST');
    for (const [, tested] of posts) {
      const called = await callSample(service, tested, { headers: { 'idempotency-key': 'everywhere' } });
      expect([called.status, called.headers['idempotency-replayed']]).toEqual([tested.operation.success, undefined]);
    }
  });

  it('means nothing to other methods', async () => {
    for (const [, tested] of operationsThat((operation) => operation.method === 'PUT' || operation.method === 'GET')) {
      const called = await callSample(service, tested, { headers: { 'idempotency-key': 'with space' } });
      expect(called.status).toBe(200);
    }
  });
});
