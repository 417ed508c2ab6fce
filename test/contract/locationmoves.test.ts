import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { address, type HeardEvent, listen } from '../server/stream/listening.ts';
import { type CallOptions, idsOf, refusalOf, rowOf, rowsOf } from '../support/calls.ts';
import { big, LOCATIONS, OPERATORIES, PATIENTS, TOKENS } from '../support/ids.ts';
import { line } from '../support/practice.ts';
import type { TestService } from '../support/service.ts';
import { BOUND, bind, inCopy, threeLocations } from './copies.ts';

const [HERE, THERE, THIRD] = [LOCATIONS.east, inCopy(1, LOCATIONS.east), inCopy(2, LOCATIONS.east)];
const HOLDERS = { here: BOUND, there: 'token-there', two: 'token-two', third: 'token-third', none: 'token-nowhere' };

/** A practice with three locations, and with a token for each of the holders. */
async function newPractice(): Promise<TestService> {
  const service = await threeLocations({ listeners: { checkMs: 0 } });
  await bind(service, HOLDERS.there, [THERE]);
  await bind(service, HOLDERS.two, [THERE, HERE]);
  await bind(service, HOLDERS.third, [THIRD]);
  await bind(service, HOLDERS.none, []);
  return service;
}

/** Runs a test in a practice of its own. */
function inPractice(run: (service: TestService) => Promise<void>): () => Promise<void> {
  return async () => {
    const service = await newPractice();
    await run(service).finally(() => service.close());
  };
}

/** Runs a test in the practice that all of these share: it changes no record that another looks at. */
function reading(run: (service: TestService) => Promise<void>): () => Promise<void> {
  return () => run(shared.read);
}

/** Runs a test in the practice that all of these share: each changes other records, or puts back what it has changed. */
function moving(run: (service: TestService) => Promise<void>): () => Promise<void> {
  return () => run(shared.moved);
}

let shared: Readonly<Record<'read' | 'moved', TestService>>;
beforeAll(async () => {
  shared = { read: await newPractice(), moved: await newPractice() };
});
afterAll(async () => {
  for (const service of Object.values(shared ?? {})) await service.close();
});

let tags = 0;

const urls = new WeakMap<TestService, Promise<string>>();

function urlOf(service: TestService): Promise<string> {
  const url = urls.get(service) ?? address(service);
  urls.set(service, url);
  return url;
}

/** What each holder, and one who sees everything, hears of some work: routing keys without the organization, payloads. */
async function heardBy(service: TestService, work: () => Promise<unknown>, query = '') {
  const url = await urlOf(service);
  const tokens = { ...HOLDERS, all: TOKENS.full };
  const listeners = await Promise.all(
    Object.entries(tokens).map(async ([name, token]) => [name, await listen(url, { token, query })] as const),
  );
  await work();
  const tagText = `The last ${++tags}`;
  await service.call('POST', '/transactiontags', { body: { tagText, isPredefined: false, tagType: 'PAYMENT_TAG' } });
  const short = ({ message, event }: HeardEvent) => {
    expect(event).toBe(message.operation);
    const { locationId, domainType, operation, payload, routingKey, organizationId } = message;
    expect(routingKey).toBe([organizationId, locationId, domainType, operation].join('.'));
    return [`${locationId}.${domainType}.${operation}`, payload] as const;
  };
  const pairs = listeners.map(async ([name, listener]) => {
    while (listener.events.at(-1)?.message.payload.tagText !== tagText)
      await listener.heard(listener.events.length + 1);
    listener.close();
    return [name, listener.events.slice(0, -1).map(short)] as const;
  });
  return Object.fromEntries(await Promise.all(pairs)) as Record<keyof typeof tokens, ReturnType<typeof short>[]>;
}

async function put(service: TestService, path: string, body: unknown, options: CallOptions = {}): Promise<void> {
  const called = await service.call('PUT', path, { body, ...options });
  if (called.status !== 200) throw new Error(called.text);
}

describe('a patient who moves to another location', () => {
  const path = `/patients/${PATIENTS.bob}`;
  const move = (service: TestService, location: number) => put(service, path, { preferredLocation: { id: location } });

  it(
    'is deleted for who is bound to the one, new for the other, changed for who sees both, and takes along what is its own',
    moving(async (service) => {
      const seen = async (token: string) => {
        const documents = await service.call('GET', '/documents', {
          token,
          query: { filter: `ownerPatient.id==${PATIENTS.bob}` },
        });
        const plans = await service.call('GET', '/patientinsuranceplans/totalcount', { token });
        const plan = await service.call('GET', `/patientinsuranceplans/${big(653)}`, { token });
        const exam = await service.call('GET', `/documents/${big(208)}`, { token });
        const missed = await service.call('GET', `/missedappointments/${big(580)}`, { token });
        const images = await service.call('GET', '/imageattachments/async', {
          token,
          query: { filter: `id->[${big(753)}]` },
        });
        await service.service.deliveries.idle();
        const total = (plans.body.data as { total: number }).total;
        return [idsOf(documents).length, total, plan.status, exam.status, missed.status, idsOf(images).length];
      };
      expect(await seen(HOLDERS.here)).toEqual([2, 4, 200, 200, 200, 1]);
      expect(await seen(HOLDERS.there)).toEqual([0, 4, 404, 404, 404, 0]);
      const heard = await heardBy(service, () => move(service, THERE));
      const record = rowOf(await service.call('GET', path));
      expect(heard.here).toEqual([[`${HERE}.PatientV1.DELETE`, { id: PATIENTS.bob }]]);
      expect(heard.there).toEqual([[`${THERE}.PatientV1.CREATE`, record]]);
      expect(heard.all).toMatchObject([[`${THERE}.PatientV1.UPDATE`, { preferredLocation: { id: THERE } }]]);
      expect(heard.two).toEqual(heard.all);
      expect([heard.third, heard.none]).toEqual([[], []]);
      expect(await seen(HOLDERS.here)).toEqual([0, 3, 404, 404, 404, 0]);
      expect(await seen(HOLDERS.there)).toEqual([2, 5, 200, 200, 200, 1]);
      // Who asks for the routing keys of a location is told nothing of it under another one.
      const asked = `?routingKey=*.${HERE}.%23&routingKey=*.*.TransactionTagV1.%23`;
      const back = await heardBy(service, () => move(service, HERE), asked);
      expect(back.there).toEqual([]);
      expect(back.here).toHaveLength(1);
    }),
  );

  it(
    'keeps who is bound to one location from moving them out of sight',
    reading(async (service) => {
      for (const location of [THERE, big(999)]) {
        const body = { preferredLocation: { id: location } };
        const called = await service.call('PUT', path, { body, token: BOUND });
        expect(refusalOf(called)).toEqual({ status: 400, errors: ['field.link_unknown preferredLocation.id'] });
      }
      expect(rowOf(await service.call('GET', path)).preferredLocation).toEqual({ id: HERE });
    }),
  );
});

describe('an appointment that moves to the operatory of another location', () => {
  it(
    'goes from the one and comes to the other, and its history with it',
    moving(async (service) => {
      const operatory = inCopy(1, OPERATORIES.one);
      const heard = await heardBy(service, () =>
        put(service, `/appointments/${big(702)}`, { operatory: { id: operatory } }),
      );
      const keys = (told: (typeof heard)['all']) => told.map(([key]) => key);
      expect(heard.here).toEqual([[`${HERE}.AppointmentV1.DELETE`, { id: big(702) }]]);
      expect(keys(heard.there)).toEqual([`${THERE}.AppointmentV1.CREATE`, `${THERE}.AppointmentHistoryV1.CREATE`]);
      expect(keys(heard.two)).toEqual([`${THERE}.AppointmentV1.UPDATE`, `${THERE}.AppointmentHistoryV1.CREATE`]);
    }),
  );
});

describe('the stream of who is bound to locations', () => {
  it(
    'has what async endpoints deliver of these, and the end of a delivery that tells of nothing else',
    reading(async (service) => {
      const delivered = (token: string) => async () => {
        await service.call('GET', '/imageattachments/async', { token });
        await service.service.deliveries.idle();
      };
      const whole = await heardBy(service, delivered(TOKENS.full));
      expect([whole.all.length, whole.here.length, whole.two.length, whole.none.length]).toEqual([10, 3, 6, 0]);
      expect(JSON.stringify([whole.here, whole.two])).not.toContain('READ_COMPLETE');
      const own = await heardBy(service, delivered(BOUND));
      expect([own.all.length, own.here.length, own.two.length, own.there.length]).toEqual([4, 4, 4, 0]);
      expect(own.here.at(-1)).toEqual(['*.ImageAttachmentV1.READ_COMPLETE', { total: 3 }]);
    }),
  );

  it(
    'goes on after any number of messages that are not for them',
    moving(async (service) => {
      const patient = (n: number, at: number) =>
        line('PatientV1', { id: big(2000 + n), firstName: 'A', lastName: 'B', preferredLocation: { id: at } });
      const work = async () => {
        // More than a server reads at once.
        await service.import(Array.from({ length: 510 }, (_, n) => patient(n, THERE)));
        const plan = line('PatientInsurancePlanV1', { id: big(3999), patient: { id: PATIENTS.ann } });
        await service.import([patient(510, HERE), plan, patient(511, HERE)]);
      };
      const heard = await heardBy(service, work, '?routingKey=*.*.PatientV1.%23&routingKey=*.*.TransactionTagV1.%23');
      expect(heard.here.map(([key, { id }]) => [key, id])).toEqual([
        [`${HERE}.PatientV1.CREATE`, big(2510)],
        [`${HERE}.PatientV1.CREATE`, big(2511)],
      ]);
      expect([heard.there.length, heard.two.length, heard.all.length, heard.none.length]).toEqual([510, 512, 512, 0]);
      // Another test counts the plans of the location.
      await service.import([line('PatientInsurancePlanV1', { id: big(3999), deleted: true })]);
    }),
  );

  it(
    'goes by routing keys where messages are older than their places',
    inPractice(async (service) => {
      await service.service.store.write((tx) => {
        const text = 'UPDATE stream_messages SET places = NULL';
        return tx.run({ sql: text, text, values: [] });
      });
      const heard = await heardBy(service, async () => {}, '?lastEventId=0');
      const places = new Set(heard.here.map(([key]) => key.split('.')[0]));
      expect([...places]).toEqual([String(HERE)]);
      expect(heard.none).toEqual([]);
      expect(heard.here.length).toBeGreaterThan(20);
    }),
  );

  it(
    'ends when the token is for other locations',
    moving(async (service) => {
      const listener = await listen(await urlOf(service), { token: HOLDERS.third });
      await bind(service, HOLDERS.third, [HERE]);
      await put(service, `/patients/${inCopy(2, PATIENTS.ann)}`, { preferredName: 'Changed' });
      await listener.ended;
      expect(listener.events).toEqual([]);
      expect(listener.comments.at(-1)).toContain('other locations');
      await bind(service, HOLDERS.third, [THIRD]);
    }),
  );
});

describe('what is kept of a list', () => {
  it(
    'is kept for the same locations alone',
    reading(async (service) => {
      const path = '/patients/totalcount';
      const counts = [];
      for (const token of [TOKENS.full, ...Object.values(HOLDERS)]) {
        counts.push((await service.call('GET', path, { token })).body.data);
      }
      const totals = counts.map((data) => Object.values(data as object)[0]);
      expect(totals).toEqual([30, 9, 11, 20, 9, 0]);
    }),
  );
});

describe('who is bound to no location at all', () => {
  it(
    'sees what belongs to all of them, and nothing else',
    reading(async (service) => {
      const token = HOLDERS.none;
      const lists = ['/patients', '/appointments', '/events', '/patientinsuranceplans', '/missedappointments'];
      for (const path of lists) expect(rowsOf(await service.call('GET', path, { token })), path).toEqual([]);
      expect(idsOf(await service.call('GET', '/documents', { token }))).toEqual([big(201), big(202)]);
      expect(idsOf(await service.call('GET', '/transactiontags', { token })).length).toBeGreaterThan(3);
      const report = { query: { filter: 'location.id==ALL,page==1' }, token };
      expect((await service.call('GET', '/agingbalances/report', report)).status).toBe(404);
    }),
  );
});

describe('what an own record links to elsewhere', () => {
  it(
    'stays an id: a guarantor at another location is not named, and not found',
    moving(async (service) => {
      const guarantor = inCopy(1, PATIENTS.cleo);
      await put(service, `/patients/${PATIENTS.ann}`, { primaryGuarantor: { id: guarantor } });
      const filter = 'location.id==ALL,page==1';
      const rows = async (token: string) => {
        const { data } = (await service.call('GET', '/agingbalances/report', { query: { filter }, token })).body;
        return (data as { patientReports: { id: string; firstName: unknown; lastName: unknown }[] }).patientReports;
      };
      const named = ({ id }: { id: string }) => id === String(guarantor);
      expect((await rows(TOKENS.full)).find(named)).toMatchObject({ firstName: 'Cleo' });
      expect((await rows(BOUND)).find(named)).toMatchObject({ firstName: null, lastName: null });
      const asked = { query: { filter: `location.id==ALL,patient.id->[${guarantor}]` }, token: BOUND };
      expect((await service.call('GET', '/agingbalances/report', asked)).status).toBe(400);
      expect(rowOf(await service.call('GET', `/patients/${PATIENTS.ann}`, { token: BOUND })).primaryGuarantor).toEqual({
        id: guarantor,
      });
    }),
  );
});
