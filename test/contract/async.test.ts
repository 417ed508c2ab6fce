import { describe, expect, it } from 'vitest';
import { allMessages } from '../server/stream/told.ts';
import { type Called, idsOf, refusalOf } from '../support/calls.ts';
import { allRecords, line } from '../support/practice.ts';
import { sharedService, testService } from '../support/service.ts';
import { filterWith, operations, type TestedOperation } from './operations.ts';
import { oracleIds } from './oracle.ts';
import { type Probe, probesOf, some } from './probes.ts';

const service = sharedService();

/** The order of the immediate answer (specification, Async endpoints; D15). */
function ordered({ operation }: TestedOperation, ids: readonly unknown[]): unknown[] {
  const ascending = ids.map(Number).sort((a, b) => a - b);
  return operation.path === '/patients/async' ? ascending.reverse() : ascending;
}

function ask(tested: TestedOperation, query: Readonly<Record<string, string | number>> = {}): Promise<Called> {
  const filter = filterWith(tested);
  return service.call('GET', tested.operation.path, { query: { ...(filter !== '' && { filter }), ...query } });
}

describe.each(operations('async').filter(([, { resource }]) => !resource.computed))('%s', (_id, tested) => {
  const { records, resource } = tested.fixture;
  const keys = Object.values(tested.operation.filters ?? {});

  it('has the filter keys of the list, but patients without id', () => {
    const listed = Object.keys(resource.operations.list?.filters ?? tested.operation.filters ?? {});
    const wanted = resource.name === 'patients' ? listed.filter((name) => name !== 'id') : listed;
    expect(keys.map((key) => key.key)).toEqual(wanted);
  });

  it.each(
    keys.flatMap((key, turn) =>
      key.operators.map((operator) => [`${key.key} ${operator}`, key, operator, turn] as const),
    ),
  )('selects what the oracle selects by %s', async (_name, key, operator, turn) => {
    for (const probe of some(probesOf(key, operator, records), 3, turn)) {
      const wanted = ordered(tested, oracleIds(records, [probe.term])).slice(0, 10);
      const called = await ask(tested, {
        filter: filterWith(tested, probe.text),
        ...(resource.name === 'events' && { lastId: 0 }),
      });
      expect(idsOf(called), probe.text).toEqual(wanted);
    }
  });

  it('brings all of them to the stream, in the order of ids, and then their total (D41)', async () => {
    const asked: (readonly [Probe, correlation: string | undefined])[] = [];
    for (const probe of keys.flatMap((key, turn) => some(probesOf(key, key.operators[0] ?? '==', records), 2, turn))) {
      const called = await ask(tested, { filter: filterWith(tested, probe.text) });
      await service.service.deliveries.idle();
      asked.push([probe, called.headers['x-correlation-id']]);
    }
    const messages = await allMessages(service);
    for (const [probe, correlation] of asked) {
      const delivered = messages.filter(({ correlationId }) => correlationId === correlation);
      const wanted = ordered(tested, oracleIds(records, [probe.term]));
      expect(delivered.map(({ operation, payload }) => [operation, payload.id ?? payload.total])).toEqual([
        ...wanted.map((id) => ['READ', id]),
        ['READ_COMPLETE', wanted.length],
      ]);
    }
  });

  it('has no meta, and as many records as asked for', async () => {
    const called = await ask(tested, { pageSize: 2 });
    expect(Object.keys(called.body).sort()).toEqual(['data', 'errors', 'warnings']);
    expect(idsOf(called)).toHaveLength(2);
  });

  it.each(['11', '500', '100000'])('answers ten at most when %s are asked for (D14)', async (pageSize) => {
    const called = await ask(tested, { pageSize });
    expect(called.status).toBe(200);
    expect(idsOf(called).length).toBeLessThanOrEqual(10);
  });

  it.each(['0', '-1', '1.5', 'abc'])('refuses the pageSize %s', async (pageSize) => {
    expect(refusalOf(await ask(tested, { pageSize }))).toEqual({ status: 400, errors: ['query.page_size pageSize'] });
  });
});

describe('the first records of patients', () => {
  it('are the ten newest, and those after lastId when one is sent', async () => {
    const many = Array.from({ length: 15 }, (_, n) =>
      line('PatientV1', { id: 500_000 + n, firstName: 'Many', lastName: 'More' }),
    );
    const crowded = await testService([...allRecords(), ...many]);
    const path = '/patients/async';
    const filter = 'firstName==Many';
    const ids = many.map((record) => Number((record as { id?: unknown }).id));
    expect(idsOf(await crowded.call('GET', path, { query: { filter } }))).toEqual(ids.slice(5).reverse());
    expect(idsOf(await crowded.call('GET', path, { query: { filter, pageSize: 3 } }))).toEqual(ids.slice(12).reverse());
    await crowded.close();
  });
});
