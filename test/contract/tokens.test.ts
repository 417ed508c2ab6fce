import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { createToken, revoke, rotateToken } from '../../src/server/tokens/admin.ts';
import { listTokens, revokeToken, saveToken } from '../../src/server/tokens/tokens.ts';
import { ELSEWHERE, LOCATIONS, OPERATORIES, ORGANIZATION, OTHER_ORGANIZATION, PATIENTS } from '../support/ids.ts';
import { bareRecords } from '../support/practice.ts';
import { sharedService } from '../support/service.ts';
import { inTheWay } from './meanwhile.ts';

const service = sharedService(bareRecords);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const later = (milliseconds: number) => new Date(service.clock.now() + milliseconds).toISOString();

type Request = Parameters<typeof createToken>[1];
const create = (request: Partial<Request> = {}) =>
  createToken(service.service, {
    organizations: [ORGANIZATION],
    scopes: ['model:read', 'model:write'],
    readOnly: false,
    ...request,
  });
const status = async (token: string, method = 'GET', path = `/patients/${PATIENTS.ann}`) =>
  (await service.call(method, path, { token, ...(method !== 'GET' && { body: {} }) })).status;
const listed = async (id: string) =>
  (await listTokens(service.service.store.read)).find((token) => token.id === id) as NonNullable<
    Awaited<ReturnType<typeof listTokens>>[number]
  >;

describe('a new token', () => {
  it.each([
    [undefined, 90 * DAY],
    ['90d', 90 * DAY],
    ['24h', DAY],
    ['15m', 15 * 60_000],
    ['30s', 30_000],
  ])('that expires %s works until then, and no longer', async (expires, lifetime) => {
    const { id, token, expiresAt } = await create({ expires });
    expect(expiresAt).toBe(later(lifetime));
    expect((await listed(id)).expiresAt).toBe(expiresAt);
    service.clock.advance(lifetime - 1);
    expect(await status(token)).toBe(200);
    service.clock.advance(1);
    expect(await status(token)).toBe(401);
  });

  it('that never expires, or at a time, says so', async () => {
    expect((await create({ expires: 'never' })).expiresAt).toBeNull();
    expect((await create({ expires: '2999-01-01' })).expiresAt).toBe('2999-01-01T00:00:00.000Z');
    expect((await create({ expires: '2999-01-01T08:00:00+02:00' })).expiresAt).toBe('2999-01-01T06:00:00.000Z');
  });

  it.each([
    ['0s', 'in the past'],
    ['2020-01-01', 'in the past'],
    ['-1d', 'must be'],
    ['90', 'must be'],
    ['90 days', 'must be'],
    ['Never', 'must be'],
    ['', 'must be'],
    ['9999999999d', 'must be'],
  ])('that expires %j is refused', async (expires, why) => {
    const made = create({ expires });
    await expect(made).rejects.toMatchObject({ name: 'Refusal', message: expect.stringContaining(why) });
    const code = why === 'must be' ? 'field.format' : 'field.range';
    await expect(made).rejects.toMatchObject({ problems: [{ code, source: '--expires' }] });
  });

  it.each([
    ['of another organization', [String(ELSEWHERE.location)], 'field.link_unknown'],
    ['of nobody', [String(LOCATIONS.west), '4711'], 'field.link_unknown'],
    ['that is no id', ['west'], 'field.format'],
    ['that is empty', [''], 'field.format'],
    ['that is an operatory', [String(OPERATORIES.one)], 'field.link_unknown'],
  ])('is refused with a location %s', async (_name, locations, code) => {
    await expect(create({ locations })).rejects.toMatchObject({ problems: [{ code, source: '--locations' }] });
  });

  it('is refused for an organization that nobody has, whose locations nobody can know', async () => {
    const made = create({ organizations: ['nosuch'], locations: [String(LOCATIONS.west)] });
    await expect(made).rejects.toMatchObject({ problems: [{ code: 'field.link_unknown', source: '--for' }] });
  });

  it('is refused for an organization that nobody has, and told what else is wrong', async () => {
    const made = create({ organizations: [ORGANIZATION, 'nosuch'], locations: ['x'], expires: 'soon' });
    await expect(made).rejects.toMatchObject({
      problems: [{ source: '--for' }, { source: '--locations' }, { source: '--expires' }],
    });
  });

  it('keeps a location that is given twice once', async () => {
    const { id } = await create({ locations: [String(LOCATIONS.west), String(LOCATIONS.west)] });
    expect(await listed(id)).toMatchObject({ locations: [LOCATIONS.west] });
  });

  it('lives for a century at most', async () => {
    expect((await create({ expires: '36525d' })).expiresAt).toBe(later(36_525 * DAY));
    await expect(create({ expires: '36526d' })).rejects.toMatchObject({ problems: [{ source: '--expires' }] });
  });

  it('keeps locations, of any organization that it is for, and that it only reads', async () => {
    const organizations = [ORGANIZATION, OTHER_ORGANIZATION];
    const ids = [LOCATIONS.west, ELSEWHERE.location];
    const { id } = await create({ organizations, locations: ids.map(String), readOnly: true });
    expect(await listed(id)).toMatchObject({ organizations, locations: ids, readOnly: true, lastUsedAt: null });
    const free = (await create()).id;
    expect(await listed(free)).toMatchObject({ who: `token ${free}`, locations: null, readOnly: false });
  });

  it('that only reads changes nothing, whatever its scopes', async () => {
    const { token } = await create({ readOnly: true });
    expect([await status(token), await status(token, 'HEAD')]).toEqual([200, 200]);
    const answers = [
      await status(token, 'POST', '/patients'),
      await status(token, 'PUT'),
      await status(token, 'DELETE', '/appointments/1'),
    ];
    expect(answers).toEqual([403, 403, 403]);
    expect(await status((await create()).token, 'POST', '/patients')).toBe(400);
  });
});

describe('a token that is replaced', () => {
  it('works beside the new one for the overlap, which has its rights and its lifetime', async () => {
    const old = await create({ expires: '24h', locations: [String(LOCATIONS.east)], readOnly: true, label: 'scanner' });
    service.clock.advance(20 * HOUR);
    const made = await rotateToken(service.service, old.id, '2h');
    expect(made.token).not.toBe(old.token);
    expect(await listed(old.id)).toMatchObject({ label: 'scanner' });
    const { organizations, scopes, locations, readOnly, label } = old;
    expect(await listed(made.id)).toMatchObject({ organizations, scopes, locations, readOnly, label });
    expect(made.expiresAt).toBe(later(DAY));
    expect(made.replaces).toEqual({ id: old.id, expiresAt: later(2 * HOUR) });
    service.clock.advance(2 * HOUR - 1);
    expect([await status(old.token), await status(made.token)]).toEqual([200, 200]);
    service.clock.advance(1);
    expect([await status(old.token), await status(made.token)]).toEqual([401, 200]);
  });

  it('ends now with an overlap of 0, on a server that has just accepted it', async () => {
    const old = await create();
    expect(await status(old.token)).toBe(200);
    const made = await rotateToken(service.service, old.id, '0');
    expect([await status(old.token), await status(made.token)]).toEqual([401, 200]);
  });

  it('does not live longer by that than it was to', async () => {
    const old = await create({ expires: '15m' });
    const made = await rotateToken(service.service, old.id, '24h');
    expect(made.replaces.expiresAt).toBe(old.expiresAt);
    const never = await create({ expires: 'never' });
    expect((await rotateToken(service.service, never.id, '30s')).expiresAt).toBeNull();
    expect((await listed(never.id)).expiresAt).toBe(later(30_000));
  });

  it('is not brought back to life once it has expired or was revoked', async () => {
    const { id } = await create({ expires: '30s' });
    await expect(rotateToken(service.service, id, 'soon')).rejects.toMatchObject({
      problems: [{ code: 'field.format', source: '--overlap' }],
    });
    service.clock.advance(30_000);
    await expect(rotateToken(service.service, id, '24h')).rejects.toMatchObject({
      status: 400,
      problems: [{ code: 'field.conflict', source: 'id' }],
    });
    await revoke(service.service, id);
    await expect(rotateToken(service.service, id, '24h')).rejects.toMatchObject({
      status: 404,
      problems: [{ source: 'id' }],
    });
  });

  it('is not brought back to life by that when it is revoked meanwhile', async () => {
    const { id } = await create();
    const rotating = rotateToken(
      inTheWay(service, (tx) => revokeToken(tx, id)),
      id,
      '24h',
    );
    await expect(rotating).rejects.toMatchObject({ status: 404 });
    await expect(revoke(service.service, id)).rejects.toMatchObject({ status: 404 });
  });

  it('is none that a client was given, which asks by itself', async () => {
    const client = { clientId: 'asks', clientSecret: 'sixteen letters!' };
    const rights = { organizations: [ORGANIZATION], scopes: ['model:read'] };
    await service.import([{ type: 'ApiClient', ...client, ...rights }]);
    await service.call('POST', '//oauth/client_credential/accesstoken', {
      ...{ token: null, organization: null },
      body: { grant_type: 'client_credentials', client_id: 'asks', client_secret: client.clientSecret },
    });
    const given = (await listTokens(service.service.store.read)).filter(({ who }) => who === 'client asks');
    expect(given).toHaveLength(1);
    await expect(rotateToken(service.service, given[0]?.id ?? '', '24h')).rejects.toMatchObject({ status: 400 });
  });

  it('is an entry of the audit log that names both', async () => {
    const old = await create();
    const made = await rotateToken(service.service, old.id, '1h');
    await service.service.store.sequenceEntries();
    const rows = await service.service.store.read.all<{ who: string; operation: string; ids: string }>(
      sql`SELECT who, operation, ids FROM audit_entries WHERE operation LIKE 'tokens.%' ORDER BY id`,
    );
    const [first, second] = rows.slice(-2);
    expect(first).toMatchObject({ operation: 'tokens.create', ids: JSON.stringify([old.id]) });
    expect(second).toMatchObject({ operation: 'tokens.rotate', who: expect.stringMatching(/^command ./) });
    expect(second?.ids).toContain(old.id);
    expect(second?.ids).toContain(made.id);
  });
});

it('a token that is stored again has its new rights alone', async () => {
  const save = (more: Partial<Parameters<typeof saveToken>[2]>) =>
    service.service.store.write((tx) =>
      saveToken(tx, 'a-token-that-is-stored-twice', {
        ...{ organizations: [ORGANIZATION], scopes: ['model:read'], label: null, createdAt: later(0), expiresAt: null },
        ...more,
      }),
    );
  const id = await save({ locations: [LOCATIONS.west], readOnly: true });
  expect(await listed(id)).toMatchObject({ locations: [LOCATIONS.west], readOnly: true });
  const rights = { organizations: [OTHER_ORGANIZATION], scopes: ['model:write'], expiresAt: later(HOUR) };
  await save(rights);
  expect(await listed(id)).toMatchObject({ ...rights, locations: null, readOnly: false });
});

it('tokens are listed by when they were made', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    service.clock.advance(1);
    ids.push((await create()).id);
  }
  const all = await listTokens(service.service.store.read);
  expect(all.slice(-8).map(({ id }) => id)).toEqual(ids);
});

it('a token that is revoked is an entry of the audit log', async () => {
  const { id } = await create();
  await revoke(service.service, id);
  await service.service.store.sequenceEntries();
  const rows = await service.service.store.read.all<{ operation: string }>(
    sql`SELECT operation FROM audit_entries WHERE ids = ${JSON.stringify([id])} ORDER BY id`,
  );
  expect(rows.map(({ operation }) => operation)).toEqual(['tokens.create', 'tokens.delete']);
});

describe('the time of the last use', () => {
  const { read, write } = {
    read: (id: string) =>
      service.service.store.read.get<{ at: string | null }>(
        sql`SELECT last_used_at AS at FROM access_tokens WHERE id = ${id}`,
      ),
    write: (id: string, at: string | null) =>
      service.service.store.write((tx) => tx.run(sql`UPDATE access_tokens SET last_used_at = ${at} WHERE id = ${id}`)),
  };

  it('is told to the minute soon after, and written once a minute only', async () => {
    const { id, token } = await create();
    expect((await listed(id)).lastUsedAt).toBeNull();
    service.clock.advance(DAY - (service.clock.now() % DAY) + 12 * HOUR + 34_567);
    const minute = later(-34_567);
    expect(await status(token)).toBe(200);
    await expect.poll(async () => (await read(id))?.at).toBe(minute);
    expect((await listed(id)).lastUsedAt).toBe(minute);
    // Whatever writes it again within this minute shows.
    await write(id, null);
    for (let n = 0; n < 20; n++) await status(token);
    await service.service.tokenUses.flush();
    expect((await read(id))?.at).toBeNull();
    service.clock.advance(60_000);
    expect(await status(token)).toBe(200);
    await service.service.tokenUses.flush();
    expect((await read(id))?.at).toBe(new Date(Date.parse(minute) + 60_000).toISOString());
  });

  it('does not go back when a server that was asked earlier writes later', async () => {
    const { id, token } = await create();
    await status(token);
    await write(id, '2999-01-01T00:00:00.000Z');
    await service.service.tokenUses.flush();
    expect((await read(id))?.at).toBe('2999-01-01T00:00:00.000Z');
  });

  it('is no use when the token was not accepted', async () => {
    const { id, token } = await create({ expires: '15m' });
    service.clock.advance(HOUR);
    expect(await status(token)).toBe(401);
    await service.service.tokenUses.flush();
    expect((await read(id))?.at).toBeNull();
  });
});
