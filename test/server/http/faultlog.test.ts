import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { buildApp } from '../../../src/server/http/app.ts';
import { openLog } from '../../../src/server/log.ts';
import type { Store } from '../../../src/server/store/store.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';

/** A message as a database writes it, with a value of a record in it. */
const FAULT = new Error("duplicate key: last_name = 'Canaria'");

let service: TestService;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  service = await testService(bareRecords());
  onTestFinished(() => service.close());
  lines = [];
});

/** Asks an app on the service, some of whose store fails, and gives what it logged beside the answers. */
async function faultsOf(url: string, broken: Partial<Store>): Promise<Record<string, unknown>[]> {
  // Deliveries hold the store itself.
  const { store } = service.service;
  const before = { ...store };
  const app = await buildApp(service.service, {
    log: openLog('info', { write: (text) => lines.push(JSON.parse(text)) }),
    timeouts: { requestMs: 10_000 },
    behindProxy: false,
    rateLimit: 0,
  });
  await app.ready();
  Object.assign(store, broken);
  const headers = {
    authorization: `Bearer ${TOKENS.full}`,
    'organization-id': ORGANIZATION,
    'x-request-id': 'asked-by',
  };
  await app.inject({ url, headers });
  const faults = () => lines.filter(({ msg }) => msg !== 'answered');
  await expect.poll(() => faults().length).toBeGreaterThan(0);
  Object.assign(store, before);
  await app.close();
  expect(JSON.stringify(lines)).not.toMatch(/Canaria|lastName/);
  return faults();
}

const fault = expect.objectContaining({ name: 'Error' });

it('a request that failed is logged with its id and its route, and nothing that it asked for', async () => {
  const readFor = () => ({ all: () => Promise.reject(FAULT), get: () => Promise.reject(FAULT) });
  const [line] = await faultsOf("/api/v1/patients?filter=lastName=='Canaria'", { readFor });
  const where = { requestId: 'asked-by', method: 'GET', route: '/api/v1/patients' };
  expect(line).toMatchObject({ level: 50, msg: 'a request failed', ...where, fault });
});

it('a caller who leaves within a body is no fault of the server', async () => {
  const app = await buildApp(service.service, {
    log: openLog('info', { write: (text) => lines.push(JSON.parse(text)) }),
    timeouts: { requestMs: 10_000 },
    behindProxy: false,
    rateLimit: 0,
  });
  onTestFinished(() => app.close());
  const failed = new Promise((resolve) => app.addHook('onError', async (request) => resolve(request.url)));
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const from = `Authorization: Bearer ${TOKENS.full}\r\nOrganization-ID: ${ORGANIZATION}`;
  const head = `POST /api/v1/patients HTTP/1.1\r\nHost: a\r\n${from}`;
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  // Its headers have been read when the body is waited for.
  await once(app.server, 'request');
  socket.destroy();
  expect(await failed).toBe('/api/v1/patients');
  expect(lines).toEqual([]);
});

it('an entry that cannot be written is logged with the id of the request', async () => {
  const [line] = await faultsOf('/api/v1/patients', { appendLogs: () => Promise.reject(FAULT) });
  const where = { part: 'audit log', requestId: 'asked-by' };
  expect(line).toMatchObject({ level: 50, msg: 'work in the background failed', ...where, fault });
});

it('a delivery that fails is logged with the id of the request that asked for it', async () => {
  const { write } = service.service.store;
  let writes = 0;
  // The first one takes the delivery on.
  const failing: Store['write'] = (work, org) => (writes++ === 0 ? write(work, org) : Promise.reject(FAULT));
  const [line] = await faultsOf('/api/v1/patients/async', { write: failing });
  const where = { part: 'async delivery', requestId: 'asked-by' };
  expect(line).toMatchObject({ level: 50, msg: 'work in the background failed', ...where, fault });
});
