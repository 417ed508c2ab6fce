import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsOf, refusalOf, rowOf, sourcesOf, type WireRecord } from '../../support/calls.ts';
import { ELSEWHERE, LOCATIONS, PATIENTS, PLANS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { patientFixture } from '../../support/resources/patients.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

let made = 0;
const post = (body: WireRecord = {}) =>
  service.call('POST', '/patients', { body: { ...patientFixture.create?.(++made), ...body } });
const put = (id: unknown, body: WireRecord) => service.call('PUT', `/patients/${id}`, { body });
const get = async (id: unknown) => rowOf(await service.call('GET', `/patients/${id}`));

async function posted(body: WireRecord = {}): Promise<WireRecord> {
  const called = await post(body);
  if (called.status !== 201) throw new Error(called.text);
  return rowOf(called);
}

describe('discounts of a patient (specification, Patient; D20)', () => {
  const plan = { discountPlan: { id: PLANS.senior } };

  it.each<[string, WireRecord, string[]]>([
    ['BASIC alone', { discountType: 'BASIC' }, ['discountPlan']],
    ['BASIC without a plan', { discountType: 'basic', discountPlan: null, income: 5, familySize: 1 }, ['discountPlan']],
    ['SLIDING_FEES alone', { discountType: 'SLIDING_FEES' }, ['income', 'familySize']],
    ['SLIDING_FEES without family', { discountType: 'SLIDING_FEES', income: 0 }, ['familySize']],
    ['SLIDING_FEES without income', { discountType: 'sliding_fees', familySize: 2, ...plan }, ['income']],
  ])('%s is refused, by POST and by PUT', async (_name, body, sources) => {
    expect(refusalOf(await post(body))).toEqual({
      status: 400,
      errors: sources.map((source) => `field.missing ${source}`),
    });
    const { id } = await posted();
    expect(refusalOf(await put(id, body))).toEqual({
      status: 400,
      errors: sources.map((source) => `field.missing ${source}`),
    });
  });

  it.each<[string, WireRecord]>([
    ['BASIC with a plan', { discountType: 'BASIC', ...plan }],
    ['SLIDING_FEES with both', { discountType: 'SLIDING_FEES', income: 0, familySize: 1 }],
    ['no discount', { discountType: null, income: 12.345 }],
  ])('%s is taken', async (_name, body) => {
    expect((await post(body)).status).toBe(201);
  });

  it('are judged by the record as it will be', async () => {
    const { id } = await posted(plan);
    expect((await put(id, { discountType: 'BASIC' })).status).toBe(200);
    expect(refusalOf(await put(id, { discountPlan: null }))).toEqual({
      status: 400,
      errors: ['field.missing discountPlan'],
    });
    expect(sourcesOf(await put(id, { discountType: 'SLIDING_FEES' }))).toEqual(['income', 'familySize']);
    expect((await put(id, { discountType: 'SLIDING_FEES', income: 10, familySize: 3 })).status).toBe(200);
    expect(refusalOf(await put(id, { familySize: null }))).toEqual({
      status: 400,
      errors: ['field.missing familySize'],
    });
    expect((await put(id, { discountType: null, familySize: null })).status).toBe(200);
  });

  it('are reported beside other problems, each once', async () => {
    const called = await post({ discountType: 'SLIDING_FEES', income: -1, gender: 'X' });
    expect(called.body.errors.map((error) => `${error.code} ${error.source}`).sort()).toEqual([
      'field.choice gender',
      'field.missing familySize',
      'field.range income',
    ]);
  });

  it('keep income to the cent', async () => {
    expect((await posted({ income: 10.005 })).income).toBe(10.01);
    expect((await posted({ income: 0.1 + 0.2 })).income).toBe(0.3);
  });
});

describe('phones of a patient (D20)', () => {
  const phone = (phoneType: string, number: string, more: WireRecord = {}) => ({ phoneType, number, ...more });

  it('get ids, and sequences that are free within their type', async () => {
    const { phones } = await posted({
      phones: [
        phone('home', '1'),
        phone('HOME', '2', { sequence: 1 }),
        phone('Work', '3'),
        phone('HOME', '4', { extension: '7' }),
      ],
    });
    expect(phones).toEqual([
      { id: 1, phoneType: 'HOME', number: '1', extension: null, sequence: 2 },
      { id: 2, phoneType: 'HOME', number: '2', extension: null, sequence: 1 },
      { id: 3, phoneType: 'WORK', number: '3', extension: null, sequence: 1 },
      { id: 4, phoneType: 'HOME', number: '4', extension: '7', sequence: 3 },
    ]);
  });

  it('may have a sequence once within a type', async () => {
    const twice = [
      phone('HOME', '1', { sequence: 0 }),
      phone('WORK', '2', { sequence: 0 }),
      phone('home', '3', { sequence: 0 }),
      phone('HOME', '4', { sequence: '0' }),
    ];
    expect(refusalOf(await post({ phones: twice }))).toEqual({
      status: 400,
      errors: ['field.duplicate phones[2].sequence', 'field.duplicate phones[3].sequence'],
    });
    const { id } = await posted();
    expect(sourcesOf(await put(id, { phones: twice }))).toEqual(['phones[2].sequence', 'phones[3].sequence']);
    expect((await post({ phones: twice.slice(0, 2) })).status).toBe(201);
  });

  it('name every part that is wrong', async () => {
    const phones = [
      phone('PAGER', ''),
      { number: '1' },
      phone('FAX', '2', { sequence: -1, extension: 'x'.repeat(21) }),
      { ...phone('OTHER', '3'), nosuch: 1 },
      'x',
      null,
    ];
    expect(sourcesOf(await post({ phones })).sort()).toEqual(
      [
        'phones[0].phoneType',
        'phones[0].number',
        'phones[1].phoneType',
        'phones[2].sequence',
        'phones[2].extension',
        'phones[3].nosuch',
        'phones[4]',
        'phones[5]',
      ].sort(),
    );
  });

  it('keep their ids through a PUT, and new ones never take an old id', async () => {
    const first = await posted({ phones: [phone('HOME', '1'), phone('WORK', '2')] });
    const changed = rowOf(await put(first.id, { phones: [phone('WORK', '22', { id: 2 }), phone('MOBILE', '3')] }));
    expect((changed.phones as WireRecord[]).map(({ id, number }) => [id, number])).toEqual([
      [2, '22'],
      [3, '3'],
    ]);
    const foreign = rowOf(await put(first.id, { phones: [phone('WORK', '22', { id: 99 })] }));
    expect((foreign.phones as WireRecord[]).map(({ id }) => id)).not.toContain(99);
  });

  it('sent again as they are, with or without ids, change nothing (D44)', async () => {
    const first = await posted({ phones: [phone('HOME', '1', { sequence: 1 }), phone('WORK', '2', { sequence: 1 })] });
    service.clock.advance(1000);
    for (const phones of [
      first.phones,
      [phone('HOME', '1', { sequence: 1 }), phone('WORK', '2', { sequence: 1 })],
      [phone('HOME', '1'), phone('WORK', '2')],
    ]) {
      expect(rowOf(await put(first.id, { phones }))).toEqual(first);
    }
  });

  it('are found by their digits, any of them', async () => {
    const { id } = await posted({ phones: [phone('HOME', '+1 (801) 555-0101'), phone('WORK', '555.0199 ext 7')] });
    const found = async (filter: string) => idsOf(await service.call('GET', '/patients', { query: { filter } }));
    expect(await found('phones.number=="1-801-555-0101"')).toEqual([id]);
    expect(await found('phones.number->[18015550101,5]')).toEqual([id]);
    expect(await found('phones.number==55501997')).toEqual([id]);
    expect(await found('phones.number==8015550101')).toEqual([]);
    expect(await found('phones.number!=18015550101')).toEqual(Object.values(PATIENTS));
    await put(id, { phones: [] });
    expect(await found('phones.number==55501997')).toEqual([]);
  });
});

describe('links between patients (D20)', () => {
  it('make a patient their own guarantor when nobody else is', async () => {
    const own = await posted();
    expect(own.primaryGuarantor).toEqual({ id: own.id });
    const { id } = await posted({ primaryGuarantor: { id: PATIENTS.ann } });
    expect(rowOf(await put(id, { primaryGuarantor: null })).primaryGuarantor).toEqual({ id });
    await service.import([line('PatientV1', { id: 5, firstName: 'A', lastName: 'B' })]);
    expect((await get(5)).primaryGuarantor).toEqual({ id: 5 });
  });

  it('keep the list of referred patients true', async () => {
    const { id } = await posted({ referredByPatient: { id: PATIENTS.ann } });
    const second = await posted({ referredByPatient: { id: PATIENTS.ann } });
    const referred = async (patient: number) => (await get(patient)).referredPatients;
    expect(await referred(PATIENTS.ann)).toEqual([{ id }, { id: second.id }]);
    await put(id, { referredByPatient: { id: PATIENTS.bob } });
    expect([await referred(PATIENTS.ann), await referred(PATIENTS.bob)]).toEqual([[{ id: second.id }], [{ id }]]);
    await put(second.id, { referredByPatient: null });
    expect(await referred(PATIENTS.ann)).toEqual([]);
  });

  it('answer a patient who refers to themselves like GET does', async () => {
    const { id } = await posted();
    const changed = rowOf(await put(id, { referredByPatient: { id } }));
    expect(changed.referredPatients).toEqual([{ id }]);
    expect(await get(id)).toEqual(changed);
  });

  it('leave lastModified of the one who referred', async () => {
    const before = await get(PATIENTS.ann);
    service.clock.advance(1000);
    await posted({ referredByPatient: { id: PATIENTS.ann } });
    expect((await get(PATIENTS.ann)).lastModified).toBe(before.lastModified);
  });
});

describe('the life of a patient', () => {
  it('has no DELETE', async () => {
    const called = await service.call('DELETE', `/patients/${PATIENTS.ann}`);
    expect([called.status, called.headers.allow]).toEqual([405, 'GET, PUT']);
  });

  it('goes from any status to any other', async () => {
    const statuses = ['NEW', 'ACTIVE', 'NON-PATIENT', 'INACTIVE', 'DUPLICATE', 'DISMISSED', 'DECEASED'];
    const { id } = await posted();
    // A walk that takes every step from one status to another.
    const walk = statuses.flatMap((from, at) =>
      statuses.slice(at).flatMap((to) => (from === to ? [from] : [from, to])),
    );
    const steps = new Set(walk.slice(1).map((to, at) => `${walk[at]} ${to}`));
    expect(steps.size).toBeGreaterThanOrEqual(statuses.length * (statuses.length - 1));
    for (const to of walk) expect(rowOf(await put(id, { patientStatus: to })).patientStatus).toBe(to);
  });
});

describe('the place of a patient', () => {
  it('is one of the organization', async () => {
    const { id } = await posted({ preferredLocation: { id: LOCATIONS.home } });
    expect((await get(id)).preferredLocation).toEqual({ id: LOCATIONS.home });
    expect(refusalOf(await put(id, { preferredLocation: { id: ELSEWHERE.location } }))).toEqual({
      status: 400,
      errors: ['field.link_unknown preferredLocation.id'],
    });
  });
});
