import sql from 'sql-template-tag';
import { beforeEach, describe, expect, it } from 'vitest';
import { IdempotencyKeys } from '../../src/server/http/idempotency.ts';
import { type CallOptions, refusalOf } from '../support/calls.ts';
import { dump } from '../support/dump.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operationsThat, sample } from './operations.ts';

const service = sharedService();
const DAY = 24 * 60 * 60 * 1000;
const KEYS = 'idempotency_keys';

/** What the store holds beside the keys themselves, once what was asked for before is delivered. */
async function records(): Promise<Record<string, string[]>> {
  await service.service.deliveries.idle();
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
      // Whose key it is still gets the first answer.
      expect((await send(`${id}-other`)).headers['idempotency-replayed']).toBe('true');
      expect(await service.service.files.leftovers()).toEqual([]);
    });

    it('is not used up by a request that is refused', async () => {
      const wrong = tested.operation.bodyIsArray ? [5] : { nosuch: 1 };
      expect((await send(`${id}-refused`, { body: wrong })).status).toBe(400);
      expect((await send(`${id}-refused`, { token: TOKENS.read })).status).toBe(403);
      const called = await send(`${id}-refused`);
      expect([called.status, called.headers['idempotency-replayed']]).toEqual([tested.operation.success, undefined]);
    });

    it('is one key for a token, also at the same time, and is kept for 24 hours', async () => {
      const replayed = async (options: CallOptions = {}, key = 'kept') => {
        const called = await send(`${id}-${key}`, options);
        return called.status === tested.operation.success ? called.headers['idempotency-replayed'] : called.status;
      };
      const another = () => ({ body: sample(tested).body });
      const both = [replayed(), replayed({ token: TOKENS.write, ...another() })];
      expect(await Promise.all(both)).toEqual([undefined, undefined]);
      service.clock.advance(DAY - 1);
      // Its write deletes what has expired, and that alone.
      expect(await replayed(another(), 'meanwhile')).toBeUndefined();
      expect(await replayed()).toBe('true');
      service.clock.advance(1);
      // What has expired is still there, since it was swept just now.
      const later = another();
      expect([await replayed(later), await replayed(later)]).toEqual([undefined, 'true']);
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
  const headers = { 'idempotency-key': 'everywhere' };

  it('is one key for each route, also at the same time', async () => {
    const posts = operationsThat((operation) => operation.method === 'POST');
    const called = await Promise.all(posts.map(([, tested]) => callSample(service, tested, { headers })));
    expect(called.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual(
      posts.map(([, { operation }]) => [operation.success, undefined]),
    );
  });

  it.each(operationsThat(({ method, path }) => method === 'POST' && path.includes('{')))(
    'is one key for each record of %s',
    async (_id, tested) => {
      const { body } = sample(tested);
      const headers = { 'idempotency-key': 'of-each' };
      const called = [];
      for (const { id } of tested.fixture.records)
        called.push(await callSample(service, tested, { id, body, headers }));
      expect(called.length).toBeGreaterThan(1);
      for (const { status, headers } of called)
        expect([status, headers['idempotency-replayed']]).toEqual([tested.operation.success, undefined]);
    },
  );

  it('stays locked while another one is free again', async () => {
    const keys = new IdempotencyKeys(service.service);
    const scope = { org: 1, token: 'one', route: 'tags.create', name: 'mine' };
    const mine = await keys.claim(scope, 'the same');
    (await keys.claim({ ...scope, name: 'other' }, 'the same')).release();
    await expect(keys.claim(scope, 'the same')).rejects.toMatchObject({ status: 409 });
    mine.release();
    (await keys.claim(scope, 'the same')).release();
  });

  it('is one key for each organization, also at the same time', async () => {
    const body = { tagText: 'Of two practices', isPredefined: false, tagType: 'PAYMENT_TAG' };
    const called = await Promise.all(
      [ORGANIZATION, OTHER_ORGANIZATION].map((organization) =>
        service.call('POST', '/transactiontags', { token: TOKENS.both, organization, headers, body }),
      ),
    );
    expect(called.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
      [201, undefined],
      [201, undefined],
    ]);
  });

  it('is forgotten a day later, with the answer', async () => {
    const kept = async () =>
      (await service.service.store.read.all<{ name: string }>(sql`SELECT name FROM idempotency_keys`)).map(
        ({ name }) => name,
      );
    const post = (key: string) =>
      service.call('POST', '/transactiontags', {
        headers: { 'idempotency-key': key },
        body: { tagText: key, isPredefined: false, tagType: 'PAYMENT_TAG' },
      });
    await post('of-yesterday');
    expect(await kept()).toContain('of-yesterday');
    service.clock.advance(DAY);
    await post('of-today');
    expect(await kept()).not.toContain('of-yesterday');
  });

  it('means nothing to other methods', async () => {
    for (const [, tested] of operationsThat((operation) => operation.method === 'PUT' || operation.method === 'GET')) {
      const called = await callSample(service, tested, { headers: { 'idempotency-key': 'with space' } });
      expect(called.status).toBe(200);
    }
  });
});
