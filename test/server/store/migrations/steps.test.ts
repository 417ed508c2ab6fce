import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openConnection } from '../../../../src/sqlite/open.ts';
import { idsOf } from '../../../support/calls.ts';
import { downgradeScript } from '../../../support/downgrade.ts';
import { PATIENTS } from '../../../support/ids.ts';
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
