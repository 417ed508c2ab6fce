import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bareRecords } from '../../support/practice.ts';
import { testService } from '../../support/service.ts';
import { check, inDatabase, linesOf, scratch } from './practices.ts';

let place: Awaited<ReturnType<typeof scratch>>;
beforeAll(async () => {
  place = await scratch();
});
afterAll(() => place.remove());

it('a check tells what of the rights of tokens and clients cannot be read', async () => {
  const data = join(place.path, 'data');
  await (await testService(bareRecords(), { data })).close();
  expect(linesOf(await check({ data }))).toEqual([]);
  inDatabase(data, (connection) =>
    connection.exec(`
      UPDATE access_tokens SET id = 'odd', locations = '"all"', expires_at = 'soon'
        WHERE id = (SELECT MIN(id) FROM access_tokens);
      INSERT INTO api_clients (client_id, secret_hash, organizations, scopes, old_secrets)
        VALUES ('app', 'x', '[]', '[]', '[{"hash":"y"}]');`),
  );
  expect(linesOf(await check({ data })).sort()).toEqual([
    'access access_tokens odd: its end cannot be read',
    'access access_tokens odd: its locations cannot be read',
    'access api_clients app: its earlier secrets cannot be read',
  ]);
});

it('a check tells which values can be read', async () => {
  const data = join(place.path, 'values');
  await (await testService(bareRecords(), { data })).close();
  const time = '2026-03-02T12:00:00.000Z';
  const good = {
    organizations: ['[]', '["a","b"]'],
    scopes: ['[]', '["model:read","model:write"]'],
    locations: [null, '[]', '[1,2]'],
    expires_at: [null, time],
    old_secrets: [null, '[]', `[{"hash":"x","endsAt":"${time}"}]`],
  };
  const bad = {
    organizations: ['', '{}', '"a"', '[1]', '["a",null]'],
    scopes: ['null', '["all"]', '["model:read","x"]', '[5]'],
    locations: ['5', '[1.5]', '["1"]', '[1,null]'],
    expires_at: ['', 'soon'],
    old_secrets: [
      ...['{}', '[null]', '["x"]', '[{"hash":"x"}]', `[{"endsAt":"${time}"}]`, `[{"hash":5,"endsAt":"${time}"}]`],
      ...['[{"hash":"x","endsAt":"soon"}]', '[{"hash":"x","endsAt":5}]'],
    ],
  };
  const names = {
    ...{ organizations: 'organizations', scopes: 'scopes', locations: 'locations' },
    ...{ expires_at: 'end', old_secrets: 'earlier secrets' },
  };
  const expected: string[] = [];
  inDatabase(data, (connection) => {
    const insert = connection.prepare(
      `INSERT INTO api_clients (client_id, secret_hash, organizations, scopes, locations, expires_at, old_secrets)
        VALUES (@id, 'x', @organizations, @scopes, @locations, @expires_at, @old_secrets)`,
    );
    const usual = { organizations: '[]', scopes: '[]', locations: null, expires_at: null, old_secrets: null };
    let count = 0;
    for (const [column, name] of Object.entries(names) as [keyof typeof names, string][]) {
      for (const value of good[column]) insert.run({ ...usual, id: `good ${++count}`, [column]: value });
      for (const value of bad[column]) {
        insert.run({ ...usual, id: `bad ${++count}`, [column]: value });
        expected.push(`access api_clients bad ${count}: its ${name} cannot be read`);
      }
    }
  });
  expect(linesOf(await check({ data })).sort()).toEqual(expected.sort());
});
