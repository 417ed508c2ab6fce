import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import { rowOf, rowsOf } from '../support/calls.ts';
import { FIXTURES } from '../support/resources.ts';
import { sharedService, testService } from '../support/service.ts';
import { callSample, operations, pathFor } from './operations.ts';

const service = sharedService();

describe('the fixtures', () => {
  it('stand for every resource that has operations', () => {
    const served = RESOURCES.filter((resource) => Object.keys(resource.operations).length > 0);
    expect(FIXTURES.map((fixture) => fixture.resource.name).sort()).toEqual(served.map(({ name }) => name).sort());
  });

  it.each(
    FIXTURES.filter(({ resource }) => !resource.computed).map((fixture) => [fixture.resource.name, fixture] as const),
  )('of %s have ids in ascending order', (_name, fixture) => {
    const ids = fixture.records.map((record) => record.id as number);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(fixture.elsewhere.some((record) => ids.includes(record.id as number))).toBe(true);
    expect(fixture.elsewhere.some((record) => !ids.includes(record.id as number))).toBe(true);
  });
});

describe.each(operations())('%s', (_id, tested) => {
  it('answers in the envelope (D6)', async () => {
    const writes = tested.operation.method !== 'GET';
    const used = writes ? await testService() : service;
    const called = await callSample(used, tested);
    if (writes) await used.close();
    expect(called.status, called.text).toBe(tested.operation.success);
    expect(called.headers['content-type']).toBe('application/json; charset=utf-8');
    const keys = tested.operation.paging?.meta
      ? ['data', 'warnings', 'errors', 'meta']
      : ['data', 'warnings', 'errors'];
    expect(Object.keys(called.body).sort()).toEqual(keys.sort());
    expect(called.body).toMatchObject({ warnings: [], errors: [] });
  });
});

describe.each(operations('get'))('%s', (_id, tested) => {
  it.each(tested.fixture.records.map((record) => [record.id, record]))(
    'answers record %s as it was imported',
    async (id, record) => {
      const called = await service.call('GET', pathFor(tested, id));
      const { importOnly = [], resource } = tested.fixture;
      const expected = Object.fromEntries(
        Object.entries(record as object).filter(([name]) => !importOnly.includes(name)),
      );
      expect(rowOf(called)).toMatchObject(expected);
      if ('type' in resource.fields) expect(rowOf(called).type).toBe(resource.type);
    },
  );
});

describe.each(operations('list'))('%s', (_id, tested) => {
  it('answers every record with the same keys (D19)', async () => {
    const rows = rowsOf(await callSample(service, tested));
    const names = Object.keys(tested.resource.fields).filter(
      (name) => tested.resource.fields[name]?.access !== 'input',
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(Object.keys(row).sort()).toEqual(names.sort());
  });

  it('answers null for what is absent, and an empty list for lists (D19)', async () => {
    for (const row of rowsOf(await callSample(service, tested))) {
      for (const [name, field] of Object.entries(tested.resource.fields)) {
        const isList = field.kind.empty !== undefined;
        if (isList) expect(row[name], name).toBeInstanceOf(Array);
        else if (field.access !== 'input') expect(row[name], name).not.toBeUndefined();
      }
    }
  });

  it('shows what GET of each record shows', async () => {
    const called = await callSample(service, tested);
    if (tested.resource.operations.get === undefined) return;
    for (const row of rowsOf(called)) {
      const single = await service.call('GET', `${tested.operation.path}/${row.id}`);
      expect(rowOf(single)).toEqual(row);
    }
  });
});
