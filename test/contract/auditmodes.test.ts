import { describe, expect, it } from 'vitest';
import { address, listen } from '../server/stream/listening.ts';
import { ORGANIZATION, PATIENTS, TOKENS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { type TestService, testService } from '../support/service.ts';
import { entriesOf, storedEntries } from './trail.ts';

/** Lets every entry fail until the function returned is called, and counts the tries. */
function breakLog({ service }: TestService): { mend: () => void; tries: () => number } {
  const { store } = service;
  const { appendLogs } = store;
  let tries = 0;
  store.appendLogs = () => {
    tries++;
    return Promise.reject(new Error('the disk is full'));
  };
  return {
    mend: () => {
      store.appendLogs = appendLogs;
    },
    tries: () => tries,
  };
}

const ready = async (service: TestService) => (await service.call('GET', '//readyz')).status;

describe('strict', () => {
  it('refuses the first read whose entry cannot be written, and those after it, until one can be', async () => {
    const service = await testService(bareRecords());
    const body = { name: 'scan', mimeType: 'PDF', file: { content: Buffer.from('%PDF-1.7').toString('base64') } };
    const made = await service.call('POST', '/documents', { body });
    const { storage } = made.body.data as { storage: { original: string } };
    const { mend } = breakLog(service);
    expect(await ready(service)).toBe(200);
    for (const path of ['/patients', `/patients/${PATIENTS.ann}`, '/patients/totalcount', '/events/async', '/stream']) {
      const refused = await service.call('GET', path);
      expect([path, refused.status]).toEqual([path, 503]);
      expect(refused.body.errors[0]?.code).toBe('audit.unavailable');
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      expect(refused.body.data).toBeNull();
      expect(await ready(service)).toBe(503);
    }
    expect((await service.call('GET', storage.original)).status).toBe(503);
    mend();
    await expect.poll(() => ready(service)).toBe(200);
    const entries = await entriesOf(service, async () => {
      expect((await service.call('GET', `/patients/${PATIENTS.ann}`)).status).toBe(200);
    });
    expect(entries.map(({ operation }) => operation)).toEqual(['patients.get']);
    const all = await storedEntries(service);
    expect(all.filter(({ operation }) => operation === 'audit.unavailable')).toHaveLength(1);
    // What was refused has disclosed nothing.
    expect(all.filter(({ operation }) => operation === 'patients.list')).toEqual([]);
    await service.close();
  });

  it('has the entry on disk before the first byte of the answer', async () => {
    const service = await testService(bareRecords());
    const url = await address(service);
    const { appendLogs } = service.service.store;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = () => {};
    const writing = new Promise<void>((resolve) => {
      asked = resolve;
    });
    service.service.store.appendLogs = async (rows) => {
      asked();
      await held;
      return appendLogs(rows);
    };
    let isAnswered = false;
    const headers = { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };
    const answer = fetch(`${url}/api/v1/patients`, { headers }).then((response) => {
      isAnswered = true;
      return response.text();
    });
    await writing;
    // Other requests are answered meanwhile, so this one has had its time.
    for (let n = 0; n < 20; n++) await (await fetch(`${url}/healthz`)).text();
    expect(isAnswered).toBe(false);
    release();
    expect(await answer).toContain('"data"');
    await service.close();
  });
});

describe('buffered', () => {
  it('writes the entry within 250 ms of the answer', async () => {
    const service = await testService(bareRecords(), { audit: { audit: 'buffered' } });
    const before = (await storedEntries(service)).length;
    expect((await service.call('GET', '/patients')).status).toBe(200);
    expect(await storedEntries(service)).toHaveLength(before);
    const answered = performance.now();
    let written = 0;
    const { appendLogs } = service.service.store;
    service.service.store.appendLogs = async (rows) => {
      written = performance.now();
      return appendLogs(rows);
    };
    await expect.poll(() => storedEntries(service), { interval: 5 }).toHaveLength(before + 1);
    expect(written - answered).toBeLessThan(250);
    await service.close();
  });

  it('reads nothing from the first commit that failed until one succeeds, and loses no entry', async () => {
    const service = await testService(bareRecords(), { audit: { audit: 'buffered' } });
    const { mend, tries } = breakLog(service);
    expect((await service.call('GET', '/patients')).status).toBe(200);
    await expect.poll(tries).toBeGreaterThan(0);
    const refused = await service.call('GET', '/patients');
    expect([refused.status, refused.body.errors[0]?.code]).toEqual([503, 'audit.unavailable']);
    expect(await ready(service)).toBe(503);
    mend();
    await expect.poll(() => ready(service)).toBe(200);
    expect((await service.call('GET', '/patients')).status).toBe(200);
    await service.service.reads.flush();
    const entries = await storedEntries(service);
    expect(entries.filter(({ operation }) => operation === 'patients.list')).toHaveLength(2);
    await service.close();
  });

  it('goes on to write changes with their entries', async () => {
    const service = await testService(bareRecords(), { audit: { audit: 'buffered' } });
    const entries = await entriesOf(service, () =>
      service.call('POST', '/transactiontags', {
        body: { tagText: 'T', isPredefined: false, tagType: 'PAYMENT_TAG' },
      }),
    );
    expect(entries.map(({ operation }) => operation)).toEqual(['transactiontags.create']);
    await service.close();
  });
});

describe('a listener', () => {
  const rename = (service: TestService, id: number, firstName: string) =>
    service.call('PUT', `/patients/${id}`, { body: { firstName } });

  it('is noted with all that it got when it ends, under the request that asked', async () => {
    const service = await testService(bareRecords());
    const url = await address(service);
    const listener = await listen(url, { headers: { 'x-request-id': 'asked-1' } });
    await rename(service, PATIENTS.ann, 'Anna');
    await rename(service, PATIENTS.cleo, 'Cleopatra');
    await listener.heard(2);
    listener.close();
    const ended = async () =>
      (await storedEntries(service))
        .filter(({ request_id }) => request_id === 'asked-1')
        .map(({ operation }) => operation);
    await expect.poll(ended).toEqual(['stream.listen', 'stream.end']);
    const entry = (await storedEntries(service)).find(({ operation }) => operation === 'stream.end');
    expect(entry).toMatchObject({
      who: expect.stringMatching(/^token /),
      record_count: 2,
      ids: [PATIENTS.ann, PATIENTS.cleo],
      patients: [PATIENTS.ann, PATIENTS.cleo],
    });
    await service.close();
  });

  it('is noted for what it got and no more: what matches, deletions and changes of linked records', async () => {
    const service = await testService();
    const url = await address(service);
    const listener = await listen(url, { query: '?routingKey=%23.AppointmentV1.%23' });
    const { data } = (await service.call('GET', '/appointments', { query: { pageSize: 500, lastId: 0 } })).body;
    const bobs = (data as { id: number; patient: { id: number } }[]).find(({ patient }) => patient.id === PATIENTS.bob);
    await rename(service, PATIENTS.ann, 'Anna');
    await service.call('PUT', `/appointments/${bobs?.id}`, { body: { note: 'x' } });
    await listener.heard(1);
    expect(JSON.stringify(listener.events[0]?.message.payload)).not.toContain('patient');
    listener.close();
    const ended = async () => (await storedEntries(service)).find(({ operation }) => operation === 'stream.end');
    await expect.poll(ended).toMatchObject({ ids: [bobs?.id], patients: [PATIENTS.bob] });
    await service.close();
  });

  it('is noted while it listens, ten seconds after a message at the latest', async () => {
    const service = await testService(bareRecords());
    const url = await address(service);
    const listener = await listen(url, { headers: { 'x-request-id': 'asked-2' } });
    await rename(service, PATIENTS.bob, 'Bobby');
    await listener.heard(1);
    const heard = performance.now();
    const noted = async () =>
      (await storedEntries(service)).filter(
        ({ request_id, patients }) => request_id === 'asked-2' && patients.length > 0,
      );
    await expect.poll(noted, { interval: 200 }).toMatchObject([{ operation: 'stream.send', ids: [PATIENTS.bob] }]);
    expect(performance.now() - heard).toBeLessThan(10_000);
    listener.close();
    await service.close();
  });

  it('gets nothing more when what it gets cannot be noted', async () => {
    const service = await testService(bareRecords());
    const url = await address(service);
    const listener = await listen(url);
    const { mend } = breakLog(service);
    expect((await service.call('GET', '/patients')).status).toBe(503);
    await rename(service, PATIENTS.bob, 'Bobby');
    await listener.ended;
    expect(listener.events).toEqual([]);
    mend();
    await service.close();
  });
});

describe('a delivery', () => {
  it('is noted with all its records, for the token and the request that asked', async () => {
    const service = await testService(bareRecords());
    const entries = await entriesOf(service, async () => {
      await service.call('GET', '/patients/async', { headers: { 'x-request-id': 'asked-3' }, query: { pageSize: 1 } });
      await service.service.deliveries.idle();
    });
    const everybody = Object.values(PATIENTS);
    expect(entries).toMatchObject([
      { operation: 'patients.async', via: null, request_id: 'asked-3', ids: [PATIENTS.cleo] },
      { operation: 'patients.async', via: 'stream', request_id: 'asked-3', ids: everybody, patients: everybody },
    ]);
    expect(entries[1]?.who).toBe(entries[0]?.who);
    await service.close();
  });
});
