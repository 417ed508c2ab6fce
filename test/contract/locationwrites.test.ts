import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import { transactionTags } from '../../src/catalog/resources/transactiontags.ts';
import { address, type Listener, listen } from '../server/stream/listening.ts';
import { type CallOptions, refusalOf } from '../support/calls.ts';
import { CLAIMS, EXAMS, LOCATIONS, OPERATORIES, PATIENTS } from '../support/ids.ts';
import { NEVER } from '../support/practice.ts';
import { FIXTURES } from '../support/resources.ts';
import type { TestService } from '../support/service.ts';
import { cases } from '../support/store.ts';
import { alike, BOUND, both, inCopy, oneLocation, threeLocations } from './copies.ts';
import { changedBody, hasId, newBody, operationsThat, pathFor, sample, type TestedOperation } from './operations.ts';
import { some } from './probes.ts';

let services: readonly [TestService, TestService];
let urls: readonly [string, string] | undefined;

/** Gives a group of tests services of its own: what one group writes, another would hear. */
function ownServices(): void {
  beforeAll(async () => {
    services = [await threeLocations(), await oneLocation()];
    urls = undefined;
  });
  afterAll(async () => {
    for (const service of services ?? []) await service.close();
  });
}

const WRITES = operationsThat(({ method }) => method !== 'GET').toSorted(
  ([, a], [, b]) => Number(a.operation.method === 'DELETE') - Number(b.operation.method === 'DELETE'),
);

/** A request that does something; every one has another body. */
function requestOf(tested: TestedOperation): { id: unknown; options: CallOptions } {
  const { id, query } = sample(tested);
  const { shape } = tested.operation;
  const body = shape === 'update' ? changedBody(tested) : shape === 'create' ? newBody(tested) : sample(tested).body;
  return { id, options: { ...(query && { query }), ...(body !== undefined && { body }) } };
}

/** A record of each kind that is at another location, by the kind. */
const ELSEWHERE: Readonly<Record<string, number>> = {
  Location: inCopy(1, LOCATIONS.east),
  Operatory: inCopy(1, OPERATORIES.one),
  PatientV1: inCopy(1, PATIENTS.ann),
  PerioExam: inCopy(1, EXAMS.one),
  InsuranceClaim: inCopy(1, CLAIMS.sent),
  ...Object.fromEntries(FIXTURES.map(({ resource, records }) => [resource.type, inCopy(1, records[0]?.id as number)])),
};

/** Bodies with a link to another location, and to what there is not, for every link that a body may have. */
function* linked(tested: TestedOperation): Generator<readonly [target: number, options: CallOptions]> {
  const { options } = requestOf(tested);
  for (const [name, { kind, access }] of Object.entries(tested.operation.body ?? {})) {
    const target = ELSEWHERE[kind.target ?? ''];
    if (target === undefined || access === 'readOnly' || kind.name !== 'link') continue;
    for (const id of [target, NEVER]) yield [id, { ...options, body: { ...(options.body as object), [name]: { id } } }];
  }
}

describe('a write that is refused', () => {
  ownServices();

  describe.each(WRITES)('%s of who is bound to a location', (_id, tested) => {
    it('does not reach what is elsewhere, as if it were nowhere', async () => {
      if (!hasId(tested)) return;
      const before = await everything();
      for (const { id } of some(tested.fixture.records, cases(3, 1))) {
        const { options } = requestOf(tested);
        const elsewhere = inCopy(1, id as number);
        if (elsewhere === id) continue;
        for (const target of [elsewhere, NEVER]) {
          const [bound, unbound] = await both(services, tested.operation.method, pathFor(tested, target), options);
          expect(bound).toEqual(unbound);
          expect(bound).toMatchObject({ status: 404 });
        }
      }
      expect(await everything()).toEqual(before);
    });

    it('links to nothing elsewhere, as if it were nowhere', async () => {
      const { id } = requestOf(tested);
      for (const [target, options] of linked(tested)) {
        const [bound, unbound] = await both(services, tested.operation.method, pathFor(tested, id), options);
        expect(bound, JSON.stringify(options.body)).toEqual(unbound);
        // A location in an update of an event is ignored (D39); an owner of a document, too.
        if (JSON.stringify(bound).includes('Read-only property')) continue;
        expect(bound, JSON.stringify([target, options.body])).toMatchObject({ status: 400 });
      }
    });
  });

  it('leaves what was imported to be told to who is bound to a location as where there is no other', async () => {
    const heard = await heardBy(await listening('?lastEventId=0'));
    expect(heard[0]).toEqual(heard[1]);
    const kinds = new Set(heard[0]?.map((message) => JSON.stringify(message).split('.')[2]));
    expect(kinds.size).toBe(RESOURCES.filter(({ computed }) => !computed).length);
  });
});

/** Every record of the practice with several locations, as who sees all of it reads it. */
async function everything(): Promise<unknown> {
  const { read } = services[0].service.store;
  const found = RESOURCES.filter(({ computed }) => !computed).map(({ name }) => {
    const text = `SELECT org, id, json FROM ${name} ORDER BY org, id`;
    return read.all({ sql: text, text, values: [] });
  });
  return Promise.all(found);
}

/** What listeners of both hear until a tag that they hear last. */
async function heardBy(listeners: readonly Listener[]): Promise<unknown[][]> {
  const tagText = `The last ${++tags}`;
  await both(services, 'POST', '/transactiontags', { body: { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' } });
  return Promise.all(
    listeners.map(async ({ events, heard, close }) => {
      while (events.at(-1)?.message.payload.tagText !== tagText) await heard(events.length + 1);
      close();
      return events.map(({ message: { routingKey, locationId, payload } }) => alike([routingKey, locationId, payload]));
    }),
  );
}

let tags = 0;

/** Listeners of both, the one bound to its location. */
async function listening(query: string): Promise<readonly Listener[]> {
  urls ??= [await address(services[0]), await address(services[1])];
  return [await listen(urls[0], { token: BOUND, query }), await listen(urls[1], { query })];
}

describe('what is written', () => {
  ownServices();

  it('is answered and told to who is bound to a location as where there is no other', async () => {
    const [all] = services;
    const listeners = await listening('?routingKey=%23');
    for (const [id, tested] of WRITES) {
      const { id: record, options } = requestOf(tested);
      const { method } = tested.operation;
      // What all locations share is told to all of them: it is written once.
      const owner = id === 'documents.create' && { ownerPatient: { id: ELSEWHERE.PatientV1 } };
      if (tested.resource !== transactionTags) {
        const body = Array.isArray(options.body) ? options.body : { ...(options.body as object), ...owner };
        const changed = options.body === undefined ? options : { ...options, body };
        const there = await all.call(method, pathFor(tested, inCopy(1, record)), inCopy(1, changed));
        expect([id, there.status], there.text).toEqual([id, tested.operation.success]);
      }
      const [bound, unbound] = await both(services, method, pathFor(tested, record), options);
      expect(bound, id).toEqual(unbound);
      expect(bound, id).toMatchObject({ status: tested.operation.success });
    }
    const heard = await heardBy(listeners);
    expect(heard[0]).toEqual(heard[1]);
    expect(heard[0]?.length).toBeGreaterThan(8);
  });

  it('is replayed to who wrote it, and refused to others by the same key', async () => {
    const [all] = services;
    const body = newBody(WRITES.find(([id]) => id === 'patients.create')?.[1] as TestedOperation);
    const headers = { 'idempotency-key': 'once' };
    const first = await all.call('POST', '/patients', { body, headers, token: BOUND });
    const again = await all.call('POST', '/patients', { body, headers, token: BOUND });
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    const elsewhere = { ...body, preferredLocation: { id: ELSEWHERE.Location } };
    const refused = await all.call('POST', '/patients', {
      body: elsewhere,
      headers: { 'idempotency-key': 'other' },
      token: BOUND,
    });
    expect(refusalOf(refused)).toEqual({ status: 400, errors: ['field.link_unknown preferredLocation.id'] });
  });
});
