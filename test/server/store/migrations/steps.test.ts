import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { revokeClient } from '../../../../src/server/tokens/clientadmin.ts';
import { issueToken } from '../../../../src/server/tokens/clients.ts';
import { openConnection } from '../../../../src/sqlite/open.ts';
import { idsOf } from '../../../support/calls.ts';
import { downgradeScript } from '../../../support/downgrade.ts';
import { ORGANIZATION, PATIENTS } from '../../../support/ids.ts';
import { bareRecords } from '../../../support/practice.ts';
import { testService } from '../../../support/service.ts';
import { allMessages } from '../../stream/told.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-upgrade-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Takes a data folder back to what the first release made. */
function downgrade(): void {
  const connection = openConnection(join(folder, 'molar.sqlite'));
  connection.exec(downgradeScript(1));
  connection.close();
}

it('a data folder of the first release gets a stream, and keeps its records', async () => {
  await (await testService(bareRecords(), { data: folder })).close();
  downgrade();
  const service = await testService([], { data: folder });
  expect(await allMessages(service)).toEqual([]);
  const body = { tagText: 'New', tagType: 'PAYMENT_TAG', isPredefined: false };
  expect((await service.call('POST', '/transactiontags', { body })).status).toBe(201);
  expect(await allMessages(service)).toHaveLength(1);
  expect(idsOf(await service.call('GET', '/patients', { query: { lastId: 0 } }))).toEqual(Object.values(PATIENTS));
  await service.close();
});

it('tokens that an earlier release tied to a client by their label alone end with that client', async () => {
  const client = { type: 'ApiClient', clientId: 'front desk', clientSecret: 'secret-of-the-front-desk' };
  const records = [...bareRecords(), { ...client, organizations: [ORGANIZATION], scopes: ['model:read'] }];
  const before = await testService(records, { data: folder });
  const from = { address: null, requestId: null };
  const { token } = await issueToken(before.service, client.clientId, client.clientSecret, from);
  await before.close();
  downgrade();
  const service = await testService([], { data: folder });
  const status = async () => (await service.call('GET', '/patients', { token })).status;
  expect([await status(), (await service.call('GET', '/patients')).status]).toEqual([200, 200]);
  await revokeClient(service.service, client.clientId);
  expect([await status(), (await service.call('GET', '/patients')).status]).toEqual([401, 200]);
  await service.close();
});
