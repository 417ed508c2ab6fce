import { describe, expect, it } from 'vitest';
import { idsOf, rowOf } from '../support/calls.ts';
import { sharedService } from '../support/service.ts';
import { callSample, operations, pathFor } from './operations.ts';

const service = sharedService();

describe.each(operations('delete'))('%s', (_id, tested) => {
  it('removes the record and answers its id (D6)', async () => {
    const list = tested.resource.operations.list?.path ?? '';
    const before = idsOf(await service.call('GET', list));
    const id = before.at(-1);
    const called = await callSample(service, tested, { id });
    expect(called.status).toBe(200);
    expect(called.body.data).toMatchObject({ id });
    expect(idsOf(await service.call('GET', list))).toEqual(before.slice(0, -1));
    expect((await service.call('GET', pathFor(tested, id))).status).toBe(404);
    expect((await callSample(service, tested, { id })).status).toBe(404);
  });
});

describe.each(operations('create'))('%s', (_id, tested) => {
  it('answers the record that GET answers, under a new id', async () => {
    const list = tested.resource.operations.list?.path ?? '';
    const before = idsOf(await service.call('GET', list)) as number[];
    const row = rowOf(await callSample(service, tested));
    expect(row.id).toBeGreaterThan(Math.max(...before));
    expect(rowOf(await service.call('GET', `${list}/${row.id}`))).toEqual(row);
    expect(idsOf(await service.call('GET', list))).toEqual([...before, row.id]);
  });
});
