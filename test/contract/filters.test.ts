import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FilterKey } from '../../src/catalog/filter/check.ts';
import type { Operator } from '../../src/catalog/operators.ts';
import { type Called, idsOf, rowOf } from '../support/calls.ts';
import { sharedService } from '../support/service.ts';
import { cases } from '../support/store.ts';
import { filterWith, operations, type TestedOperation } from './operations.ts';
import { type OracleTerm, oracleIds } from './oracle.ts';
import { type Probe, probesOf, some } from './probes.ts';

const service = sharedService();

/** Every key with each of its operators, as rows for `it.each`. */
function keysAndOperators({ operation }: TestedOperation): [name: string, key: FilterKey, operator: Operator][] {
  return Object.values(operation.filters ?? {}).flatMap((key) =>
    key.operators.map((operator): [string, FilterKey, Operator] => [`${key.key} ${operator}`, key, operator]),
  );
}

/** Terms that every bulk read of a resource carries, as the oracle's: they let everything through. */
function expected({ fixture }: TestedOperation, terms: readonly OracleTerm[]): unknown[] {
  return oracleIds(fixture.records, terms);
}

function list(tested: TestedOperation, filter: string): Promise<Called> {
  const start = tested.operation.paging?.style === 'cursor' ? { lastId: 0 } : {};
  return service.call('GET', tested.operation.path, {
    query: { filter: filterWith(tested, filter), pageSize: 500, ...start },
  });
}

/** Texts are compared by the database in more ways than other values, which are the same to it however they were written. */
function asked({ value }: FilterKey, probes: readonly Probe[]): Probe[] {
  return some(probes, value.match === 'text' ? cases(30, 5) : cases(10, 2));
}

/** Probes whose answer is not what the oracle says. */
async function mismatches(tested: TestedOperation, probes: readonly (readonly Probe[])[]): Promise<unknown[]> {
  const wrong: unknown[] = [];
  for (const terms of probes) {
    const filter = terms.map((probe) => probe.text).join(',');
    const called = await list(tested, filter);
    const wanted = expected(
      tested,
      terms.map((probe) => probe.term),
    );
    const got = called.status === 200 ? idsOf(called) : called.text;
    if (JSON.stringify(got) !== JSON.stringify(wanted)) wrong.push({ filter, got, wanted });
  }
  return wrong;
}

describe.each(operations('list'))('%s', (_id, tested) => {
  const records = tested.fixture.records;

  it.each(keysAndOperators(tested))('selects what the oracle selects by %s', async (_name, key, operator) => {
    const probes = probesOf(key, operator, records);
    const sizes = probes.map((probe) => expected(tested, [probe.term]).length);
    expect(
      await mismatches(
        tested,
        asked(key, probes).map((probe) => [probe]),
      ),
    ).toEqual([]);
    // Otherwise the fixture cannot tell a filter that works from one that does nothing.
    expect(Math.max(...sizes)).toBeGreaterThan(0);
    expect(Math.min(...sizes)).toBeLessThan(records.length);
  });

  it('selects what the oracle selects by several terms, repeated keys among them', async () => {
    const all = keysAndOperators(tested).flatMap(([, key, operator]) => probesOf(key, operator, records));
    const terms = fc.array(fc.constantFrom(...all), { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(terms, async (probes) => {
        expect(await mismatches(tested, [probes])).toEqual([]);
      }),
      { numRuns: cases(25, 5), seed: 20_260_302 },
    );
  });

  it('selects everything by an empty filter', async () => {
    if (tested.fixture.always !== undefined) return;
    for (const filter of ['', ' ']) {
      const called = await service.call('GET', tested.operation.path, { query: { filter } });
      expect(idsOf(called)).toEqual(records.map((record) => record.id));
    }
  });

  it('joins several filter parameters', async () => {
    const [first, second] = keysAndOperators(tested).flatMap(([, key, operator]) =>
      probesOf(key, operator, records).slice(0, 1),
    );
    if (first === undefined || second === undefined) return;
    const filter = [filterWith(tested, first.text), second.text];
    const called = await service.call('GET', tested.operation.path, { query: { filter } });
    expect(new Set(idsOf(called))).toEqual(new Set(expected(tested, [first.term, second.term])));
  });
});

describe.each(operations('count'))('%s', (_id, tested) => {
  const { countNames = [], records } = tested.fixture;

  it.each(keysAndOperators(tested))('counts what the list holds by %s (D18)', async (_name, key, operator) => {
    for (const probe of some(probesOf(key, operator, records), cases(2, 1))) {
      const query = { filter: filterWith(tested, probe.text) };
      const total = expected(tested, [probe.term]).length;
      const called = await service.call('GET', tested.operation.path, { query });
      expect(called.body.data, probe.text).toEqual(Object.fromEntries(countNames.map((name) => [name, total])));
    }
  });

  it('counts everything without a filter', async () => {
    const filter = tested.fixture.always;
    const called = await service.call('GET', tested.operation.path, filter === undefined ? {} : { query: { filter } });
    expect(rowOf(called)).toEqual(Object.fromEntries(countNames.map((name) => [name, records.length])));
  });
});
