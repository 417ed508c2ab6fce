import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allMessages } from '../server/stream/told.ts';
import { LOCATIONS, PATIENTS } from '../support/ids.ts';
import { NEVER } from '../support/practice.ts';
import type { TestService } from '../support/service.ts';
import { cases } from '../support/store.ts';
import { alike, BOUND, both, inCopy, oneLocation, threeLocations } from './copies.ts';
import { filterWith, hasId, operationsThat, pathFor, sample, type TestedOperation } from './operations.ts';
import { probesOf, some } from './probes.ts';

/**
 * The oracle of a token that is bound to a location: a practice that has nothing else. Every answer of the one must be
 * that of the other, errors included.
 */
let services: readonly [TestService, TestService];

beforeAll(async () => {
  services = [await threeLocations(), await oneLocation()];
});
afterAll(async () => {
  for (const service of services ?? []) await service.close();
});

type Query = Readonly<Record<string, string | number>>;

async function same(tested: TestedOperation, query: Query, id?: unknown): Promise<void> {
  const path = pathFor(tested, id);
  const [bound, unbound] = await both(services, 'GET', path, { query });
  expect(bound, `${tested.operation.id} ${id ?? ''} ${JSON.stringify(query)}`).toEqual(unbound);
  // Deliveries that wait together are served in turn.
  if (tested.operation.shape === 'async') for (const { service } of services) await service.deliveries.idle();
}

/** Queries of a bulk read: all pages in both ways, and keys with operators on values of here and of elsewhere. */
function* queriesOf(tested: TestedOperation): Generator<Query> {
  const { operation, fixture } = tested;
  const given = sample(tested).query ?? {};
  const isAsync = operation.shape === 'async';
  yield given;
  if (fixture.resource.computed) return;
  for (const page of some([1, 2, 3], cases(3, 1))) yield { ...given, pageSize: 2, page };
  for (const { id } of fixture.records.slice(0, cases(3, 1))) yield { ...given, pageSize: 2, lastId: id as number };
  const records = [...fixture.records.map((record) => inCopy(1, record)), ...fixture.records];
  const keys = Object.values(operation.filters ?? {});
  for (const [turn, key] of some(keys, cases(keys.length, 4)).entries()) {
    for (const operator of some(key.operators, isAsync ? cases(2, 1) : cases(key.operators.length, 1), turn)) {
      for (const { text } of some(probesOf(key, operator, records), isAsync ? 1 : cases(2, 1), turn))
        yield { ...given, filter: filterWith(tested, text) };
    }
  }
}

describe.each(operationsThat(({ method }) => method === 'GET'))('%s of who is bound to a location', (_id, tested) => {
  it('is what it is where there is no other location', async () => {
    const { fixture, operation } = tested;
    if (hasId(tested)) {
      const ids = some(fixture.records, cases(20, 3)).map(({ id }) => id as number);
      for (const id of [...ids, ...ids.map((own) => inCopy(1, own)), NEVER]) await same(tested, {}, id);
      return;
    }
    for (const query of queriesOf(tested)) {
      // What is kept of the same request of somebody who sees everything is not for others.
      const isKept = operation.shape !== 'async' && query.filter === sample(tested).query?.filter;
      if (isKept) await services[0].call('GET', operation.path, { query });
      await same(tested, query);
    }
    if (operation.shape !== 'async') return;
    const [bound, unbound] = await Promise.all(services.map(allMessages));
    const delivered = (messages = bound) =>
      messages?.filter(({ correlationId }) => correlationId).map(({ routingKey, payload }) => [routingKey, payload]);
    expect(delivered(bound)).toEqual(delivered(unbound));
    // Of a report that is worked out there are fewer requests.
    expect(delivered(bound)?.length).toBeGreaterThan(fixture.resource.computed ? 3 : 5);
  });
});

const [HERE, THERE] = [LOCATIONS.east, inCopy(1, LOCATIONS.east)];
const DAYS = 'startDate==2026-03-09,endDate==2026-03-10';

describe('a report for who is bound to a location', () => {
  it.each([
    [200, '/scheduleopenings', `location.id==${HERE},${DAYS}`],
    [200, '/scheduleopenings', `location.id==${THERE},${DAYS}`],
    [200, '/scheduleopenings', `location.id==${NEVER},${DAYS}`],
    [200, '/scheduletemplatereasons', `location.id==${THERE}`],
    [200, '/locationproductionnetschedule', 'fromDate==2026-03-09'],
    [200, '/locationproductionnetschedule', 'fromDate==2026-03-09,location.id==ALL'],
    [404, '/locationproductionnetschedule', `fromDate==2026-03-09,location.id==${THERE}`],
    [404, '/locationproductionnetschedule', `fromDate==2026-03-09,location.id!=${HERE}`],
    [200, '/locationproductionnetschedule', `fromDate==2026-03-09,patient.id==${PATIENTS.ann}`],
    [404, '/locationproductionnetschedule', `fromDate==2026-03-09,patient.id==${inCopy(1, PATIENTS.ann)}`],
    [200, '/agingbalances/report', 'location.id==ALL,page==1'],
    [200, '/agingbalances/report', 'location.id==ALL,page==2'],
    [200, '/agingbalances/report', `location.id==${HERE},page==1`],
    [404, '/agingbalances/report', `location.id==${THERE},page==1`],
    [404, '/agingbalances/report', `location.id==${NEVER},page==1`],
    [200, '/agingbalances/report', `location.id==ALL,patient.id->[${PATIENTS.ann},${PATIENTS.cleo}]`],
    [400, '/agingbalances/report', `location.id==ALL,patient.id->[${PATIENTS.bob}]`],
    [400, '/agingbalances/report', `location.id==ALL,patient.id->[${inCopy(1, PATIENTS.ann)}]`],
    [200, '/patients/calculated', `patient.id->[${PATIENTS.ann},${PATIENTS.bob},${inCopy(1, PATIENTS.ann)}]`],
  ])('answers %i: %s of %s is what it is where there is no other', async (status, path, filter) => {
    const query = { filter, ...(path.endsWith('calculated') && { responseFields: 'ALL' }) };
    const [bound, unbound] = await both(services, 'GET', path, { query });
    expect(bound).toEqual(unbound);
    expect(bound).toMatchObject({ status });
  });

  it('is not that of everybody', async () => {
    const [all] = services;
    for (const [path, filter] of [
      ['/agingbalances/report', 'location.id==ALL,page==1'],
      ['/agingbalances/report', `location.id==${HERE},page==1`],
      ['/locationproductionnetschedule', 'fromDate==2026-03-09'],
      ['/scheduleopenings', `location.id==${HERE},${DAYS}`],
    ] as const) {
      const bound = await all.call('GET', path, { query: { filter }, token: BOUND });
      expect(bound.status).toBe(200);
      expect(alike(bound.body)).not.toEqual(alike((await all.call('GET', path, { query: { filter } })).body));
    }
  });
});
