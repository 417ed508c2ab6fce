import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refusalOf, rowOf } from '../../support/calls.ts';
import { BILLING_TYPES, ELSEWHERE, NOWHERE, OTHER_ORGANIZATION, PATIENTS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const get = async (id: unknown) => rowOf(await service.call('GET', `/patients/${id}`));

describe('billing types of a patient (D22)', () => {
  const path = `/patients/${PATIENTS.ann}/billingtypes`;
  const set = (body: unknown) => service.call('POST', path, { body });
  const item = (id: number, name: string) => ({ id, type: 'BillingTypeV1', name });

  it('have the names of their own practice, whatever another calls one with the same id', async () => {
    await service.import([line('BillingType', { id: BILLING_TYPES.plan, name: 'Of another' }, OTHER_ORGANIZATION)]);
    const called = await set([{ id: BILLING_TYPES.plan }]);
    expect(called.body.data).toEqual([item(BILLING_TYPES.plan, 'Plan')]);
    expect((await service.call('GET', path)).body.data).toEqual([item(BILLING_TYPES.plan, 'Plan')]);
  });

  it('are replaced as a whole and answered with their names', async () => {
    expect((await service.call('GET', path)).body.data).toEqual([]);
    const called = await set([
      { id: BILLING_TYPES.card },
      { id: String(BILLING_TYPES.cash) },
      { id: BILLING_TYPES.card },
    ]);
    expect([called.status, called.body.data]).toEqual([
      200,
      [item(BILLING_TYPES.cash, 'Cash'), item(BILLING_TYPES.card, 'Card')],
    ]);
    expect((await service.call('GET', path)).body.data).toEqual(called.body.data);
    expect((await set([{ id: BILLING_TYPES.plan }])).body.data).toEqual([item(BILLING_TYPES.plan, 'Plan')]);
    expect((await get(PATIENTS.ann)).billingTypes).toEqual([{ id: BILLING_TYPES.plan }]);
    expect((await set([])).body.data).toEqual([]);
  });

  it('change lastModified of the patient, but not when nothing changes (D44)', async () => {
    await set([{ id: BILLING_TYPES.card }, { id: BILLING_TYPES.cash }]);
    expect((await get(PATIENTS.ann)).lastModified).toBe(service.clock.text());
    const before = service.clock.text();
    service.clock.advance(1000);
    await set([{ id: BILLING_TYPES.cash }, { id: BILLING_TYPES.card }]);
    expect((await get(PATIENTS.ann)).lastModified).toBe(before);
  });

  it('ignore name and type with a warning', async () => {
    const called = await set([item(BILLING_TYPES.cash, 'Other name')]);
    expect(called.body.data).toEqual([item(BILLING_TYPES.cash, 'Cash')]);
    expect(called.body.warnings.map((warning) => warning.source)).toEqual(['[0].type', '[0].name']);
  });

  it.each<[string, unknown, string[]]>([
    ['an object', { id: 1 }, ['body.shape body']],
    ['what are no links', [5, 'x', null, []], ['field.type [0]', 'field.type [1]', 'field.type [2]', 'field.type [3]']],
    [
      'ids that are none',
      [{ id: 'x' }, {}, { id: null }],
      ['field.type [0].id', 'field.missing [1].id', 'field.missing [2].id'],
    ],
    [
      'unknown ids',
      [{ id: BILLING_TYPES.cash }, { id: NOWHERE }, { id: ELSEWHERE.billingType }],
      ['field.link_unknown [1].id', 'field.link_unknown [2].id'],
    ],
    ['unknown parts', [{ id: BILLING_TYPES.cash, nosuch: 1 }], ['body.unknown_property [0].nosuch']],
  ])('refuse %s and change nothing', async (_name, body, errors) => {
    await set([{ id: BILLING_TYPES.plan }]);
    expect(refusalOf(await set(body))).toEqual({ status: 400, errors });
    expect((await get(PATIENTS.ann)).billingTypes).toEqual([{ id: BILLING_TYPES.plan }]);
  });
});
