import { describe, expect, it } from 'vitest';
import { messagesOf } from '../../server/stream/told.ts';
import { type CallOptions, refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import {
  ELSEWHERE,
  LOCATIONS,
  NOWHERE,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  PATIENTS,
  TOKENS,
} from '../../support/ids.ts';
import { line } from '../../support/practice.ts';
import { sharedService, testService } from '../../support/service.ts';
import {
  callSample,
  changedBody,
  hasId,
  newBody,
  operations,
  operationsThat,
  type TestedOperation,
} from '../operations.ts';

const THERE = { token: TOKENS.other, organization: OTHER_ORGANIZATION } as const;
const BOTH_THERE = { token: TOKENS.both, organization: OTHER_ORGANIZATION } as const;

const shared = sharedService();

/** The id of a record that both practices have, each its own, and of one that the other alone has. */
function idsThere({ fixture }: TestedOperation): { common: number; foreign: number } {
  const mine = new Set(fixture.records.map(({ id }) => id));
  const ids = fixture.elsewhere.map(({ id }) => Number(id));
  return { common: ids.find((id) => mine.has(id)) ?? 0, foreign: ids.find((id) => !mine.has(id)) ?? 0 };
}

const byId = operations().filter(([, tested]) => hasId(tested));
const readById = ({ resource }: TestedOperation) => `/${resource.name}/`;

describe.each(byId)('%s', (_id, tested) => {
  it('does not reach a record of another organization, by a token of its own or of both', async () => {
    const { foreign } = idsThere(tested);
    const there = () => shared.call('GET', readById(tested) + foreign, THERE);
    const before = (await there()).text;
    for (const options of [{}, { token: TOKENS.both }] satisfies CallOptions[]) {
      const called = await callSample(shared, tested, { ...options, id: foreign });
      expect(refusalOf(called)).toEqual({ status: 404, errors: ['record.not_found id'] });
      for (const secret of ['Else', 'elsewhere', OTHER_ORGANIZATION]) expect(called.text).not.toContain(secret);
    }
    expect((await there()).text).toBe(before);
  });
});

describe('a record of an id that the other organization has too', () => {
  it('is its own: what is read, changed and deleted is not the other', async () => {
    const service = await testService();
    const there = (tested: TestedOperation) =>
      service.call('GET', readById(tested) + idsThere(tested).common, THERE).then(({ text }) => text);
    const deletesLast = byId.toSorted(
      ([, a], [, b]) => Number(a.operation.method === 'DELETE') - Number(b.operation.method === 'DELETE'),
    );
    for (const [id, tested] of deletesLast) {
      const before = await there(tested);
      const called = await callSample(service, tested, { id: idsThere(tested).common });
      expect([id, called.status < 300 || called.text]).toEqual([id, true]);
      expect(await there(tested), id).toBe(before);
    }
    await service.close();
  });
});

/** Everything that can be read, as text: lists of every page, counts, records, reports, answers of async endpoints. */
async function everything(service: typeof shared): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [id, tested] of operationsThat(({ method }) => method === 'GET')) {
    found[id] = (await callSample(service, tested)).text;
    if (!hasId(tested)) continue;
    for (const { id: record } of tested.fixture.records)
      found[`${id} ${record}`] = (await callSample(service, tested, { id: record })).text;
  }
  const east = `location.id==${LOCATIONS.east}`;
  for (const filter of ['location.id==ALL', east, `${east},page==1`]) {
    found[`aging ${filter}`] = (await service.call('GET', '/agingbalances/report', { query: { filter } })).text;
  }
  return found;
}

/** Changes all that can be changed in the other practice: every kind of record, under its own ids and under shared ones. */
async function changeThere(service: typeof shared): Promise<void> {
  const answers: number[] = [];
  for (const [, tested] of operationsThat(({ shape }) => ['update', 'delete'].includes(shape))) {
    const { common, foreign } = idsThere(tested);
    for (const id of tested.operation.shape === 'delete' ? [common] : [common, foreign]) {
      const body = tested.operation.shape === 'update' ? { body: changedBody(tested) } : {};
      answers.push((await callSample(service, tested, { ...BOTH_THERE, ...body, id })).status);
    }
  }
  answers.push((await service.call('POST', '/transactiontags', { ...THERE, body: tag })).status);
  expect(answers.filter((status) => status >= 300)).toEqual([]);
  const location = { id: ELSEWHERE.location };
  const patient = { id: ELSEWHERE.patient };
  await service.import([
    line('PatientV1', { id: PATIENTS.bob, firstName: 'Else', lastName: 'Bob' }, OTHER_ORGANIZATION),
    line('Location', { id: LOCATIONS.west, name: 'West of elsewhere' }, OTHER_ORGANIZATION),
    line('Transaction', { ...charge, patient, location, amount: 1234.56 }, OTHER_ORGANIZATION),
  ]);
}

const tag = { tagText: 'Elsewhere only', isPredefined: false, tagType: 'PAYMENT_TAG' };
const charge = {
  id: 70_000_000_000_402,
  ledgerType: 'PatientProcedureLedger',
  ownership: 'PATIENT',
  transactionDate: '2026-02-10',
};

describe('what another organization does', () => {
  it('changes no list, count, record, report or async answer of this one, and is not on its stream', async () => {
    const service = await testService();
    const before = await everything(service);
    await service.service.deliveries.idle();
    const messages = await messagesOf(service, async () => {
      await changeThere(service);
      for (const [, tested] of operationsThat(({ shape }) => shape === 'async')) {
        const filter = tested.fixture.always;
        await service.call('GET', tested.operation.path, { ...THERE, ...(filter && { query: { filter } }) });
      }
      await service.service.deliveries.idle();
    });
    expect(messages.length).toBeGreaterThan(10);
    expect([...new Set(messages.map(({ organizationId }) => organizationId))]).toEqual([OTHER_ORGANIZATION]);
    expect(messages.some(({ operation }) => operation === 'READ')).toBe(true);
    const own = await messagesOf(service, async () => {
      expect(await everything(service)).toEqual(before);
      await service.service.deliveries.idle();
    });
    expect([...new Set(own.map(({ organizationId }) => organizationId))]).toEqual([ORGANIZATION]);
    expect(JSON.stringify(own)).not.toMatch(/[Ee]lsewhere|1234\.56/);
    await service.close();
  });
});

/** Bodies with a link to a record of the other practice, one for each link that the resource has. */
function linkedBodies(tested: TestedOperation): [name: string, body: unknown][] {
  const { fixture, operation } = tested;
  const whole = operation.shape === 'create' ? newBody(tested) : {};
  return (fixture.links ?? []).map(([name, , elsewhere]) => [name, { ...whole, [name]: { id: elsewhere } }]);
}

/** Whether a body of the operation sets the field; others are ignored with a warning (D44). */
function isSet({ operation, resource }: TestedOperation, name: string): boolean {
  const access = resource.fields[name]?.access;
  return access !== 'readOnly' && (operation.shape === 'create' || access !== 'createOnly');
}

describe.each(operations('create', 'update').filter(([, { fixture }]) => fixture.links !== undefined))(
  '%s',
  (_id, tested) => {
    it('links to no record of another organization', async () => {
      for (const [name, body] of linkedBodies(tested)) {
        for (const token of [TOKENS.full, TOKENS.both]) {
          const called = await callSample(shared, tested, { token, body });
          if (isSet(tested, name)) {
            expect(refusalOf(called)).toEqual({ status: 400, errors: [`field.link_unknown ${name}.id`] });
          } else {
            expect(called.body.warnings.map(({ source }) => source)).toEqual([name]);
            expect(called.text).not.toContain(JSON.stringify((body as WireRecord)[name]));
          }
        }
      }
    });

    it('has a case for every link that a body can set', () => {
      const links = Object.entries(tested.resource.fields).filter(([, { kind }]) => kind.name === 'link');
      const tried = tested.fixture.links?.map(([name]) => name) ?? [];
      expect(links.map(([name]) => name).filter((name) => isSet(tested, name) && !tried.includes(name))).toEqual([]);
    });
  },
);

describe('a link in a shape of its own', () => {
  it('of a document to an organization is to its own', async () => {
    const body = { name: 'x', mimeType: 'PDF', file: { content: Buffer.from('%PDF-1.7').toString('base64') } };
    for (const token of [TOKENS.full, TOKENS.both]) {
      const called = await shared.call('POST', '/documents', {
        token,
        body: { ...body, ownerOrganization: { id: OTHER_ORGANIZATION } },
      });
      expect(called.status).toBe(400);
      expect(called.body.errors.map(({ source }) => source?.split('.')[0])).toEqual(['ownerOrganization']);
    }
  });

  it('of billing types is to those of the organization', async () => {
    const called = await shared.call('POST', `/patients/${PATIENTS.cleo}/billingtypes`, {
      body: [{ id: ELSEWHERE.billingType }],
    });
    expect(called.status).toBe(400);
    expect(called.body.errors[0]?.code).toBe('field.link_unknown');
  });

  it('in a filter finds nothing of another organization', async () => {
    const asked: [path: string, filter: string][] = [
      ['/transactions/totalcount', `patient.id==${ELSEWHERE.patient},transactionDate>=0001-01-01`],
      ['/documents/totalcount', `ownerPatient.id==${ELSEWHERE.patient}`],
      ['/events/totalcount', `location.id==${ELSEWHERE.location}`],
      ['/patients/calculated', `patient.id->[${ELSEWHERE.patient}]`],
    ];
    for (const [path, filter] of asked) {
      const called = await shared.call('GET', path, { query: { filter, responseFields: 'ALL' } });
      expect(called.text).not.toMatch(/"total(?:Count)?":[1-9]|[Ee]lsewhere/);
    }
    const day = 'startDate==2026-03-09,endDate==2026-03-10';
    for (const [path, filter] of [
      ['/agingbalances/report', `location.id==${ELSEWHERE.location}`],
      ['/scheduleopenings', `location.id==${ELSEWHERE.location},${day}`],
      ['/locationproductionnetschedule', `fromDate==2026-03-09,location.id==${ELSEWHERE.location}`],
    ] as const) {
      const answer = async (id: number) => {
        const asked = filter.replace(String(ELSEWHERE.location), String(id));
        return (await shared.call('GET', path, { query: { filter: asked } })).text.replaceAll(String(id), '#');
      };
      expect(await answer(ELSEWHERE.location), path).toBe(await answer(NOWHERE));
    }
  });

  it('is not made by an Idempotency-Key of another organization or token', async () => {
    const key = { 'idempotency-key': 'the-same' };
    const first = await shared.call('POST', '/transactiontags', { ...BOTH_THERE, headers: key, body: tag });
    expect(first.status).toBe(201);
    for (const token of [TOKENS.both, TOKENS.full]) {
      const body = { ...tag, tagText: `Of ${token}` };
      const called = await shared.call('POST', '/transactiontags', { token, headers: key, body });
      expect([called.status, rowOf(called) as WireRecord]).toMatchObject([201, { tagText: body.tagText }]);
    }
  });
});
