import { afterAll, describe, expect, it } from 'vitest';
import { verifyLog } from '../../src/server/audit/verify.ts';
import { type Called, rowOf, rowsOf, type WireRecord } from '../support/calls.ts';
import { NOWHERE, ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { appointmentFixture } from '../support/resources/appointments.ts';
import { sharedService, type TestService } from '../support/service.ts';
import { cases } from '../support/store.ts';
import { callSample, operations, operationsThat, sample, type TestedOperation } from './operations.ts';
import { some } from './probes.ts';
import { ascending, type Entry, entriesOf, whose } from './trail.ts';

const shared = sharedService();
/** The records of this one do not stay as they were imported. */
const changed = sharedService();

const FROM_A_TOKEN = { who: expect.stringMatching(/^token [0-9a-f]{12}$/), address: '127.0.0.1' };

/** The one entry of a read, which is there when the answer is; a delivery has its own. */
async function entryOfRead(
  service: TestService,
  { operation }: TestedOperation,
  read: () => Promise<Called>,
): Promise<{ entry: Entry; answer: Called }> {
  let answer: Called | undefined;
  const entries = await entriesOf(service, async () => {
    answer = await read();
  });
  const [entry, ...others] = entries.filter(({ via }) => via === null);
  expect(others).toEqual([]);
  expect(answer?.status, answer?.text).toBe(200);
  // A delivery is noted when it is sent, which is behind the answer.
  if (operation.shape === 'async') await service.service.deliveries.idle();
  const asked = { operation: operation.id, request_id: answer?.headers['x-request-id'] };
  expect(entry).toMatchObject({ ...FROM_A_TOKEN, ...asked });
  return { entry: entry as Entry, answer: answer as Called };
}

/** The first shows what a store has to do with it. */
const QUERIES = [
  ['a page behind an id', { lastId: 1, pageSize: 2 }],
  ['a list', {}],
  ['the second page', { page: 2, pageSize: 2 }],
].slice(0, cases(3, 1)) as [name: string, query: { page?: number }][];

const disclosed = ({ ids, patients }: Entry) => ({ ids, patients });

describe.each(operations('list', 'async').filter(([, { resource }]) => !resource.computed))('%s', (_id, tested) => {
  const { resource, operation } = tested;
  const told = (rows: readonly WireRecord[]) => ({
    ids: ascending(rows.map(({ id }) => id)),
    patients: whose(resource.name, rows),
  });

  it.each(QUERIES)('notes before the answer exactly what %s held', async (_name, query) => {
    const { entry, answer } = await entryOfRead(shared, tested, () => callSample(shared, tested, { query }));
    const rows = rowsOf(answer);
    expect(rows.length).toBeGreaterThan(query.page === 2 ? -1 : 0);
    expect(disclosed(entry)).toEqual(told(rows));
    expect(entry.record_count).toBe(rows.length);
  });

  it('notes as much where the answer holds other fields than those that say whose it is', async () => {
    const query = { lastId: 1, pageSize: 3 };
    const whole = rowsOf(await callSample(shared, tested, { query }));
    const field = Object.keys(operation.fields ?? {}).find(
      (name) => !['id', 'patient', 'ownerPatient', 'ownerPerioExam', 'insuranceClaim', 'storage'].includes(name),
    );
    const { entry } = await entryOfRead(shared, tested, () =>
      callSample(shared, tested, { query: { ...query, responseFields: String(field) } }),
    );
    expect(disclosed(entry)).toEqual(told(whole));
  });

  it('notes a HEAD as it notes the GET', async () => {
    const { query } = sample(tested);
    const { entry } = await entryOfRead(shared, tested, () => callSample(shared, tested));
    const head = await entryOfRead(shared, tested, () => shared.call('HEAD', operation.path, { query: { ...query } }));
    expect(disclosed(head.entry)).toEqual(disclosed(entry));
  });
});

describe.each(operations('get'))('%s', (_id, tested) => {
  it.each(tested.fixture.records.slice(0, cases(20, 1)).map((record) => [record.id, record] as const))(
    'notes record %s',
    async (id, record) => {
      const { entry } = await entryOfRead(shared, tested, () => callSample(shared, tested, { id }));
      expect(disclosed(entry)).toEqual({ ids: [id], patients: whose(tested.resource.name, [record]) });
      if (tested.operation.selectable !== true) return;
      const query = { responseFields: 'id' };
      const selected = await entryOfRead(shared, tested, () => callSample(shared, tested, { id, query }));
      expect(disclosed(selected.entry)).toEqual(disclosed(entry));
    },
  );
});

describe.each(operations('count'))('%s', (_id, tested) => {
  it('discloses nobody', async () => {
    const { entry } = await entryOfRead(shared, tested, () => callSample(shared, tested));
    expect(disclosed(entry)).toEqual({ ids: [], patients: [] });
  });
});

/** What reads of their own shape hold: worked out from the records that were imported. */
const OWN_SHAPES: Readonly<Record<string, (answer: Called) => { ids: unknown[]; patients: unknown[] }>> = {
  'patients.calculated': (answer) => {
    const ids = rowsOf(answer).map(({ id }) => id);
    expect(ids).toEqual([PATIENTS.ann]);
    return { ids, patients: ids };
  },
  'patients.billingtypesList': () => ({ ids: [PATIENTS.bob], patients: [PATIENTS.bob] }),
  'locationproductionnetschedule.report': scheduledOf,
  'locationproductionnetschedule.async': scheduledOf,
  'agingbalances.report': (answer) => {
    const { patientReports } = rowOf(answer) as { patientReports: WireRecord[] };
    const ids = patientReports.map(({ id }) => Number(id));
    expect(ids).toEqual([PATIENTS.ann]);
    return { ids, patients: ids };
  },
  'scheduleopenings.list': () => ({ ids: [], patients: [] }),
};

/** The appointments that the report tells of, by their starts: it has no ids. */
function scheduledOf(answer: Called): { ids: unknown[]; patients: unknown[] } {
  const dates = rowsOf(answer).map(({ date }) => date);
  const missed = ['NO_SHOW', 'BROKEN', 'CANCELLEDBYOFFICE'];
  const found = appointmentFixture.records.filter(
    ({ start, status }) => dates.includes(start) && !missed.includes(String(status)),
  );
  expect(found.map(({ start }) => start).toSorted()).toEqual(dates.toSorted());
  return { ids: ascending(found.map(({ id }) => id)), patients: whose('appointments', found) };
}

describe.each(
  operationsThat(({ method }) => method === 'GET').filter(
    ([, { operation, resource }]) => resource.computed || !['list', 'async', 'get', 'count'].includes(operation.shape),
  ),
)('%s', (id, tested) => {
  it('notes exactly what it held', async () => {
    const { entry, answer } = await entryOfRead(shared, tested, () =>
      callSample(shared, tested, { query: { pageSize: 50 } }),
    );
    const expected = OWN_SHAPES[id];
    if (expected === undefined) throw new Error(`The test has no expectation of ${id}.`);
    expect(disclosed(entry)).toEqual(expected(answer));
  });
});

/** The records of a resource as they are stored, by id; those of the practice that calls are for. */
async function storedRecords(
  { service }: TestService,
  { resource }: TestedOperation,
): Promise<Map<number, WireRecord>> {
  const text = `SELECT id, json FROM ${resource.name} WHERE org = 1`;
  const rows = await service.store.read.all<{ id: number; json: string }>({ sql: text, text, values: [] });
  return new Map(rows.map(({ id, json }) => [id, JSON.parse(json) as WireRecord]));
}

/** The id that a write answers; the answer to a list that is replaced has no id, but is below a record. */
function answeredBy({ operation }: TestedOperation, called: Called): number {
  return operation.shape === 'replace' && Array.isArray(called.body.data) ? PATIENTS.cleo : Number(rowOf(called).id);
}

/** The entry of the record that a write answered, among those of what followed from it. */
async function entryOfWrite(service: TestService, tested: TestedOperation, write: () => Promise<Called>) {
  const before = await storedRecords(service, tested);
  let answer: Called | undefined;
  const entries = await entriesOf(service, async () => {
    answer = await write();
  });
  expect(answer?.status, answer?.text).toBe(tested.operation.success);
  const operation = expect.stringMatching(/\.(create|update|delete)$/);
  const asked = { ...FROM_A_TOKEN, operation, request_id: answer?.headers['x-request-id'] };
  for (const entry of entries) expect(entry).toMatchObject(asked);
  const id = answeredBy(tested, answer as Called);
  const { name } = tested.resource;
  const entry = entries.find(({ operation, ids }) => operation.startsWith(`${name}.`) && ids.includes(id));
  const record = (await storedRecords(service, tested)).get(id) ?? before.get(id);
  expect(disclosed(entry as Entry)).toEqual({ ids: [id], patients: whose(name, [record as WireRecord]) });
  return { answer: answer as Called, id };
}

/** What writes, those that delete at the end: what they delete the others need. */
const WRITES = operationsThat(({ method }) => method !== 'GET').toSorted(
  ([, { operation: a }], [, { operation: b }]) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
);

for (const token of [TOKENS.full, TOKENS.write].slice(0, cases(2, 1))) {
  describe(`a write by ${token}`, { shuffle: false }, () => {
    const service = sharedService();
    it.each(WRITES)('notes the record that it answered, and whose it is: %s', async (_id, tested) => {
      const { answer, id } = await entryOfWrite(service, tested, () => callSample(service, tested, { token }));
      // Those who may not read get the id alone (D57).
      if (token === TOKENS.write) expect(answer.body.data).toEqual({ id });
    });
    afterAll(async () => {
      await service.service.store.sequenceEntries();
      expect((await verifyLog(service.service.store.read)).problems).toEqual([]);
    });
  });
}

describe.each(operationsThat(({ method }) => method === 'POST'))('%s', (id, tested) => {
  it.each([TOKENS.full, TOKENS.write])('notes each replay by an Idempotency-Key for %s', async (token) => {
    const options = { token, body: sample(tested).body, headers: { 'idempotency-key': `${token}-${id}` } };
    const first = await callSample(changed, tested, options);
    const answered = answeredBy(tested, first);
    const patients = whose(tested.resource.name, [(await storedRecords(changed, tested)).get(answered) as WireRecord]);
    for (let n = 0; n < 2; n++) {
      let again: Called | undefined;
      const entries = await entriesOf(changed, async () => {
        again = await callSample(changed, tested, options);
      });
      expect(again?.headers['idempotency-replayed']).toBe('true');
      expect(again?.body).toEqual(first.body);
      expect(entries).toMatchObject([{ ...FROM_A_TOKEN, operation: id, via: 'replay', ids: [answered], patients }]);
      expect(entries[0]?.request_id).toBe(again?.headers['x-request-id']);
    }
  });
});

describe('a token that may not read any more', () => {
  const token = 'token-that-is-narrowed';
  const line = { type: 'AccessToken', token, organizations: [ORGANIZATION] };
  const allow = (...scopes: string[]) => changed.import([{ ...line, scopes }]);

  it.each(operationsThat(({ method }) => method === 'POST'))(
    'gets no more than the id from a replay (D57): %s',
    async (id, tested) => {
      const options = { token, body: sample(tested).body, headers: { 'idempotency-key': `narrowed-${id}` } };
      await allow('model:read', 'model:write');
      const answered = answeredBy(tested, await callSample(changed, tested, options));
      await allow('model:write');
      const again = await callSample(changed, tested, options);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(again.body).toEqual({ data: { id: answered }, warnings: [], errors: [] });
    },
  );
});

describe.each(operationsThat(({ method }) => method === 'PUT'))('%s', (_id, tested) => {
  it('notes an update that changes nothing: it tells of the record', async () => {
    const { query } = sample(tested);
    const { name } = tested.resource;
    for (const record of some(tested.fixture.records, cases(20, 2))) {
      const entries = await entriesOf(shared, async () => {
        const called = await callSample(shared, tested, { id: record.id, body: {}, ...(query && { query }) });
        expect(called.status, called.text).toBe(200);
      });
      const told = { operation: `${name}.update`, ids: [record.id], patients: whose(name, [record]) };
      expect(entries).toMatchObject([told]);
    }
  });
});

it('setting the billing types that a patient has is noted', async () => {
  const path = `/patients/${PATIENTS.bob}/billingtypes`;
  const has = rowsOf(await shared.call('GET', path)).map(({ id }) => ({ id }));
  const entries = await entriesOf(shared, () => shared.call('POST', path, { body: has }));
  expect(entries).toMatchObject([{ operation: 'patients.update', ids: [PATIENTS.bob], patients: [PATIENTS.bob] }]);
});

it('an appointment that goes to another patient is noted for both', async () => {
  const [first] = appointmentFixture.records as [WireRecord];
  const entries = await entriesOf(changed, async () => {
    const called = await changed.call('PUT', `/appointments/${first.id}`, { body: { patient: { id: PATIENTS.cleo } } });
    expect(called.status, called.text).toBe(200);
  });
  const entry = entries.find(({ operation }) => operation === 'appointments.update');
  expect(entry?.patients).toEqual([PATIENTS.ann, PATIENTS.cleo]);
});

describe('an entry', () => {
  it('has the keys of a filter and none of its values', async () => {
    const filter = 'lastName==Canaryvalue,dateOfBirth==1913-07-09';
    const found = await entriesOf(shared, () => shared.call('GET', '/patients', { query: { filter } }));
    const told = { operation: 'patients.list', filter_keys: 'lastName,dateOfBirth', record_count: 0 };
    expect(found).toMatchObject([{ ...told, ids: [], patients: [] }]);
    expect(JSON.stringify(found)).not.toMatch(/Canaryvalue|1913/);
  });

  it('is not made by a request that is wrong, or asks for what is not there', async () => {
    const added = async (path: string, query = {}) => entriesOf(shared, () => shared.call('GET', path, { query }));
    expect(await added('/patients', { filter: 'nonsense==1' })).toEqual([]);
    expect(await added(`/patients/${NOWHERE}`)).toEqual([]);
    expect(await added('/locationproductionnetschedule', { filter: 'fromDate==1999-01-01' })).toEqual([]);
  });

  it.each([
    ['an organization', {}, []],
    ['a patient', { ownerPatient: { id: PATIENTS.bob } }, [PATIENTS.bob]],
  ])('tells of a file of %s that is downloaded by its link', async (_name, owner, patients) => {
    const file = { content: Buffer.from('%PDF-1.7').toString('base64') };
    const made = await changed.call('POST', '/documents', { body: { name: 'scan', mimeType: 'PDF', file, ...owner } });
    const { id, storage } = made.body.data as { id: number; storage: { original: string } };
    for (const method of ['GET', 'HEAD']) {
      const found = await entriesOf(changed, () => changed.call(method, storage.original));
      expect(found).toMatchObject([{ operation: 'files.get', ...FROM_A_TOKEN, via: 'link', ids: [id], patients }]);
    }
  });
});
