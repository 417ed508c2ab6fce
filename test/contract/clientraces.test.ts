import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { revokeClient, rotateClient } from '../../src/server/tokens/clientadmin.ts';
import { issueToken, listClients } from '../../src/server/tokens/clients.ts';
import { NO_SECRET } from '../../src/server/tokens/secrets.ts';
import { LOCATIONS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { hashingSlowly } from '../support/quickhashes.ts';
import { sharedService } from '../support/service.ts';
import { clientsOf } from './clientcalls.ts';
import { inTheWay } from './meanwhile.ts';

const service = sharedService(bareRecords);
const { create, ask, status, accepts } = clientsOf(service);
const HOUR = 3_600_000;

describe('a client', () => {
  it('that is revoked while it asks gets no token that works', () =>
    hashingSlowly(async () => {
      for (let n = 0; n < 3; n++) {
        const client = await create();
        const asking = ask(client.clientId, client.clientSecret);
        // The secret is being compared, which takes some tens of milliseconds.
        await new Promise((resolve) => setImmediate(resolve));
        await revokeClient(service.service, client.clientId);
        const asked = await asking;
        expect(typeof asked === 'number' ? asked : await status(asked.token)).toBe(401);
      }
    }));

  it('with another secret keeps its rights, and is told with them', async () => {
    const rights = { locations: [String(LOCATIONS.east)], readOnly: true, label: 'reports' };
    const { clientSecret: _first, ...made } = await create({ ...rights, expires: '24h' });
    const rotated = await rotateClient(service.service, made.clientId, '30m');
    const now = new Date(service.clock.now()).toISOString();
    const told = { ...made, rotatedAt: now };
    expect(rotated).toEqual({
      ...told,
      clientSecret: expect.stringMatching(/^molar_secret_/),
      oldSecretEndsAt: new Date(service.clock.now() + HOUR / 2).toISOString(),
    });
    const all = await listClients(service.service.store.read);
    expect(all.find(({ clientId }) => clientId === made.clientId)).toEqual({ ...told, lastUsedAt: null });
  });

  it('whose secret is replaced while it asks gets no token', async () => {
    const { clientId, clientSecret } = await create();
    const busy = inTheWay(service, (tx) =>
      tx.run(sql`UPDATE api_clients SET secret_hash = ${NO_SECRET} WHERE client_id = ${clientId}`),
    );
    const asking = issueToken(busy, clientId, clientSecret, { address: null, requestId: null });
    await expect(asking).rejects.toMatchObject({ status: 401 });
  });

  it('that is given two secrets at once has one of them', async () => {
    const { clientId } = await create();
    const both = [rotateClient(service.service, clientId, '0'), rotateClient(service.service, clientId, '0')];
    const [first, second] = await Promise.allSettled(both);
    const [won, lost] = first?.status === 'fulfilled' ? [first, second] : [second, first];
    expect(lost).toMatchObject({ status: 'rejected', reason: { status: 404 } });
    const { clientSecret } = (won as PromiseFulfilledResult<Awaited<ReturnType<typeof rotateClient>>>).value;
    expect(await accepts(clientId, clientSecret)).toBe(true);
  });
});
