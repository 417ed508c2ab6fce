import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { createToken } from '../../src/server/tokens/admin.ts';
import { revokeClient, rotateClient } from '../../src/server/tokens/clientadmin.ts';
import { findClient, listClients } from '../../src/server/tokens/clients.ts';
import { LOCATIONS, ORGANIZATION, PATIENTS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';
import { clientsOf } from './clientcalls.ts';

const service = sharedService(bareRecords);
const HOUR = 3_600_000;

const { create, ask, tokenOf, status, accepts } = clientsOf(service);

describe('a client', () => {
  it('gets tokens with its rights, and its secret stands in no list and no column', async () => {
    const client = await create({ locations: [String(LOCATIONS.east)], readOnly: true, label: 'reports' });
    expect(client.clientSecret.length).toBeGreaterThanOrEqual(16);
    const token = await tokenOf(client);
    expect([await status(token), await status(token, 'PUT')]).toEqual([200, 403]);
    const row = await service.service.store.read.get<Record<string, unknown>>(
      sql`SELECT locations, read_only, client_id FROM access_tokens WHERE client_id = ${client.clientId}`,
    );
    expect(row).toEqual({ locations: `[${LOCATIONS.east}]`, read_only: 1, client_id: client.clientId });
    const all = await listClients(service.service.store.read);
    const minute = new Date(service.clock.now() - (service.clock.now() % 60_000)).toISOString();
    const { clientSecret, ...told } = client;
    expect(all.find(({ clientId }) => clientId === client.clientId)).toEqual({
      ...told,
      rotatedAt: null,
      lastUsedAt: minute,
    });
    const stored = await service.service.store.read.all(sql`SELECT * FROM api_clients`);
    expect(JSON.stringify([all, stored])).not.toContain(clientSecret);
  });

  it('ends when it expires, and no token of it lives on', async () => {
    const client = await create({ expires: '30m' });
    service.clock.advance(20 * 60_000);
    const asked = await ask(client.clientId, client.clientSecret);
    expect(asked).toMatchObject({ seconds: '600' });
    const { token } = asked as { token: string };
    service.clock.advance(10 * 60_000 - 1);
    expect(await status(token)).toBe(200);
    service.clock.advance(1);
    expect([await status(token), await ask(client.clientId, client.clientSecret)]).toEqual([401, 401]);
  });

  it('that is revoked ends with every token that it was given, on a server that has just accepted them', async () => {
    const [client, other] = [await create(), await create()];
    const tokens = [await tokenOf(client), await tokenOf(client)];
    const stays = await tokenOf(other);
    for (const token of [...tokens, stays]) expect(await status(token)).toBe(200);
    await revokeClient(service.service, client.clientId);
    for (const token of tokens) expect(await status(token)).toBe(401);
    expect([await accepts(client.clientId, client.clientSecret), await status(stays)]).toEqual([false, 200]);
    await expect(revokeClient(service.service, client.clientId)).rejects.toMatchObject({ status: 404 });
  });

  it('with another secret keeps the earlier ones for their overlaps, and its tokens', async () => {
    const first = await create();
    const id = first.clientId;
    const token = await tokenOf(first);
    const second = await rotateClient(service.service, id, '2h');
    service.clock.advance(30 * 60_000);
    const third = await rotateClient(service.service, id, '1h');
    const works = async () => Promise.all([first, second, third].map(({ clientSecret }) => accepts(id, clientSecret)));
    expect(await status(token)).toBe(200);
    service.clock.advance(HOUR - 1);
    expect(await works()).toEqual([true, true, true]);
    service.clock.advance(1);
    expect(await works()).toEqual([true, false, true]);
    service.clock.advance(HOUR / 2);
    expect(await works()).toEqual([false, false, true]);
    await rotateClient(service.service, id, '0');
    expect(await works()).toEqual([false, false, false]);
    // Nor does a hash stay of a secret that has ended.
    expect((await findClient(service.service.store.read, id))?.oldSecrets).toEqual([]);
    expect(await accepts(id, `${third.clientSecret} `)).toBe(false);
  });

  it('that nobody has gets no other secret and is not revoked', async () => {
    const unknown = { status: 404, problems: [{ code: 'record.not_found', source: 'id' }] };
    await expect(rotateClient(service.service, 'nosuch', '1h')).rejects.toMatchObject(unknown);
    await expect(revokeClient(service.service, 'nosuch')).rejects.toMatchObject(unknown);
  });

  it('with another secret lives as long again, each time', async () => {
    const client = await create({ expires: '24h' });
    for (const hours of [20, 10]) {
      service.clock.advance(hours * HOUR);
      const [before] = (await listClients(service.service.store.read)).filter(
        ({ clientId }) => clientId === client.clientId,
      );
      const made = await rotateClient(service.service, client.clientId, '24h');
      expect(made.expiresAt).toBe(new Date(service.clock.now() + 24 * HOUR).toISOString());
      expect(made.oldSecretEndsAt).toBe(before?.expiresAt);
    }
  });

  it('of an earlier molar, which noted no beginning, lives for 90 days then', async () => {
    const { clientId } = await create({ expires: '24h' });
    await service.service.store.write((tx) =>
      tx.run(sql`UPDATE api_clients SET created_at = NULL WHERE client_id = ${clientId}`),
    );
    const made = await rotateClient(service.service, clientId, '0');
    expect(made.expiresAt).toBe(new Date(service.clock.now() + 90 * 24 * HOUR).toISOString());
  });

  it('leaves no token for longer than a day after its end, and leaves tokens of people', async () => {
    const client = await create({ expires: 'never' });
    const refusal = async (token: string) => {
      const { body } = await service.call('GET', `/patients/${PATIENTS.ann}`, { token });
      return body.errors[0]?.code;
    };
    const old = await tokenOf(client);
    const person = await createToken(service.service, {
      ...{ organizations: [ORGANIZATION], scopes: ['model:read'], readOnly: true },
      expires: '15m',
    });
    // The token has lived an hour, and a day has passed since.
    service.clock.advance(25 * HOUR);
    await tokenOf(client);
    expect(await refusal(old)).toBe('auth.token_expired');
    service.clock.advance(1);
    await tokenOf(client);
    expect([await refusal(old), await refusal(person.token)]).toEqual(['auth.token_unknown', 'auth.token_expired']);
  });

  it('stands in the audit log with all that is done about it', async () => {
    const { clientId, clientSecret } = await create();
    await tokenOf({ clientId, clientSecret });
    await rotateClient(service.service, clientId, '1h');
    await revokeClient(service.service, clientId);
    await service.service.store.sequenceEntries();
    const rows = await service.service.store.read.all<{ who: string; operation: string }>(sql`
      SELECT who, operation FROM audit_entries WHERE ids = ${JSON.stringify([clientId])} OR who = ${`client ${clientId}`}
      ORDER BY id`);
    const command = expect.stringMatching(/^command ./);
    expect(rows).toEqual([
      { who: command, operation: 'clients.create' },
      { who: `client ${clientId}`, operation: 'tokens.create' },
      { who: command, operation: 'clients.rotate' },
      { who: command, operation: 'clients.delete' },
    ]);
  });

  it('that an import replaces or deletes takes its tokens along', async () => {
    const line = { type: 'ApiClient', clientId: 'imported one', organizations: [ORGANIZATION], scopes: ['model:read'] };
    const clientSecret = 'sixteen letters!';
    await service.import([{ ...line, clientSecret }]);
    const before = await tokenOf({ clientId: 'imported one', clientSecret });
    await service.import([{ ...line, clientSecret, scopes: [] }]);
    expect(await status(before)).toBe(401);
    const narrowed = await tokenOf({ clientId: 'imported one', clientSecret });
    expect(await status(narrowed)).toBe(403);
    await service.import([{ type: 'ApiClient', clientId: 'imported one', deleted: true }]);
    expect(await status(narrowed)).toBe(401);
  });
});
