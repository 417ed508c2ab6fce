import { afterEach, describe, expect, it, vi } from 'vitest';
import { openPostgresStore } from '../../../src/server/store/postgres/store.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import type { Reader } from '../../../src/server/store/store.ts';
import { createToken } from '../../../src/server/tokens/admin.ts';
import { revokeTokenText } from '../../../src/server/tokens/tokens.ts';
import { idsOf } from '../../support/calls.ts';
import { LOCATIONS, ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';
import { type TestService, testService } from '../../support/service.ts';
import { testPostgres } from '../../support/services.ts';

let opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0)) await each.close();
  opened = [];
});

/** The store as another process has it. */
function another({ path, database }: TestService) {
  return database === undefined ? openSqliteStore(path, { serving: false }) : openPostgresStore(database);
}

describe.each(['sqlite', 'postgres'] as const)('a token on %s', (store) => {
  it('that another process revokes is refused at once, however often it was accepted', async (context) => {
    if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const service = await testService(undefined, { store });
    const other = await another(service);
    opened.push(other, service);
    const status = async () => (await service.call('GET', `/patients/${PATIENTS.ann}`, { token: TOKENS.read })).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 200]);
    await other.write((tx) => revokeTokenText(tx, TOKENS.read));
    expect(await status()).toBe(401);
  });

  it('that expires is refused, though nobody has written since it was accepted', async (context) => {
    if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const service = await testService(undefined, { store });
    opened.push(service);
    const token = 'a-token-that-expires-in-a-minute';
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString();
    await service.import([
      { type: 'AccessToken', token, organizations: [ORGANIZATION], scopes: ['model:read'], expiresAt },
    ]);
    const status = async () => (await service.call('GET', `/patients/${PATIENTS.ann}`, { token })).status;
    expect([await status(), await status()]).toEqual([200, 200]);
    service.clock.advance(60_000);
    expect(await status()).toBe(401);
  });

  it.for(['it', 'its organization'])('that is looked up is not kept where %s goes meanwhile', async (what, context) => {
    if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const service = await testService(undefined, { store });
    opened.push(service);
    const access = { token: 'a-token-of-one-that-goes', organization: 'goes' };
    const own = { type: 'Organization', id: access.organization, timezone: 'UTC' };
    await service.import([
      own,
      { type: 'AccessToken', token: access.token, organizations: [own.id], scopes: ['model:read'] },
    ]);
    const gone = what === 'it' ? { type: 'AccessToken', token: access.token } : { type: 'Organization', id: own.id };
    const { store: looked } = service.service;
    const lookups = vi.spyOn(looked, 'lookupsFor');
    // The token is looked up first. What was read is there no longer when it is told.
    if (what !== 'it') lookups.mockImplementationOnce(() => looked.read);
    lookups.mockImplementationOnce(() => {
      const get = async (...asked: Parameters<Reader['get']>) => {
        const row = await looked.read.get(...asked);
        await service.import([{ ...gone, deleted: true }]);
        return row;
      };
      return { get } as unknown as Reader;
    });
    const status = async () => (await service.call('GET', '/patients', access)).status;
    expect([await status(), await status()]).toEqual([200, what === 'it' ? 401 : 403]);
  });

  it('that is bound to a location binds nobody else, and nobody else frees it', async (context) => {
    if (store === 'postgres' && (await testPostgres()) === undefined) return context.skip('needs PostgreSQL');
    const service = await testService(undefined, { store });
    opened.push(service);
    const { token } = await createToken(service.service, {
      ...{ organizations: [ORGANIZATION], scopes: ['model:read'], locations: [String(LOCATIONS.west)], readOnly: true },
    });
    const seen = async (by: string) => idsOf(await service.call('GET', '/patients', { token: by }));
    // Whoever comes first finds the organization, which is cached for the others.
    const [bound, all] = [await seen(token), await seen(TOKENS.read)];
    expect(all.length).toBeGreaterThan(bound.length);
    expect([await seen(token), await seen(TOKENS.read)]).toEqual([bound, all]);
  });
});
