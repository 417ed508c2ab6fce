import { describe, expect, it } from 'vitest';
import { rowOf } from '../support/calls.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, TOKENS } from '../support/ids.ts';
import { NEVER } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';
import { callSample, hasId, operations, pathFor, type TestedOperation } from './operations.ts';

const service = sharedService();

/** The id of a record that only the other practice has. */
function foreignId({ fixture }: TestedOperation): number {
  const mine = new Set(fixture.records.map((record) => record.id));
  return fixture.elsewhere.find((record) => !mine.has(record.id))?.id as number;
}

/** An answer without what differs from call to call: the id asked for. */
const shapeOf = (text: string, id: unknown) => text.replaceAll(String(id), '#');

describe.each(operations().filter(([, tested]) => hasId(tested)))('%s', (_id, tested) => {
  it('answers 404 to the id of another organization, like to one that is nowhere (D2)', async () => {
    const foreign = await callSample(service, tested, { id: foreignId(tested) });
    const missing = await callSample(service, tested, { id: NEVER });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toMatchObject({
      statusCode: 404,
      data: null,
      warnings: [],
      errors: [{ code: 'record.not_found', source: 'id' }],
    });
    expect(shapeOf(foreign.text, foreignId(tested))).toBe(shapeOf(missing.text, NEVER));
  });

  it.each([
    '0',
    '-1',
    'abc',
    '9007199254740992',
    '99999999999999999999',
    '1e3',
    '1.5',
    '1.0',
    ' ',
    '%00',
    'null',
    '0x10',
    '１',
  ])('answers 404 to the id %j (D5)', async (id) => {
    const called = await callSample(service, tested, { id });
    expect(called.status).toBe(404);
    expect(called.body.errors).toHaveLength(1);
    expect(called.body.errors[0]).toMatchObject({ code: 'record.not_found', source: 'id' });
  });

  it('answers a body that is wrong before it looks for the record (D2)', async () => {
    if (tested.operation.body === undefined) return;
    const called = await callSample(service, tested, {
      id: NEVER,
      body: tested.operation.bodyIsArray ? {} : { nosuch: 1 },
    });
    expect(called.status).toBe(400);
  });
});

describe.each(operations('get'))('%s', (_id, tested) => {
  it('shows each organization its own record under a shared id', async () => {
    const [shared] = tested.fixture.records.filter((record) =>
      tested.fixture.elsewhere.some((other) => other.id === record.id),
    );
    const at = async (organization: string) =>
      rowOf(await service.call('GET', pathFor(tested, shared?.id), { organization, token: TOKENS.both }));
    expect(await at(ORGANIZATION)).not.toEqual(await at(OTHER_ORGANIZATION));
  });

  it('takes an id with leading zeros', async () => {
    const id = tested.fixture.records[0]?.id;
    expect(rowOf(await service.call('GET', pathFor(tested, `00${id}`))).id).toBe(id);
  });
});
