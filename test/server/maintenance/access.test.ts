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
