import { describe, expect, it } from 'vitest';
import { within } from '../../../../src/server/store/schema/faults.ts';
import { SCHEMA } from '../../../../src/server/store/schema/schema.ts';
import { StoreUnusable } from '../../../../src/server/store/store.ts';
import { onPostgres, postgresTest } from '../../../support/postgres.ts';
import { testService } from '../../../support/service.ts';
import { type Home, makeOlder, OLDER, olderPatient, onBothStores, postgresHome } from './olderpractice.ts';

describe('a start that cannot bring a practice to this version', () => {
  const refused = async (home: Home, message: RegExp, next: RegExp) => {
    const fault = await home.open().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StoreUnusable);
    expect((fault as StoreUnusable).message).toMatch(message);
    expect((fault as StoreUnusable).next).toMatch(next);
  };

  onBothStores('names the record whose JSON cannot be read', async (home) => {
    await makeOlder(home);
    const spoil = `UPDATE patients SET json = '{"id": 9, broken' WHERE org = 1 AND id = 9`;
    await home.script(spoil);
    await refused(home, /^The patient 9 of organization near has JSON that cannot be read/, /Restore the last backup/);
    const mend = `UPDATE patients SET json = '${JSON.stringify(olderPatient(9))}' WHERE org = 1 AND id = 9`;
    await home.script(mend);
    const store = await home.open();
    await store.ping();
    await store.close();
  });

  onBothStores('names the records that a unique index does not allow', async (home) => {
    await (await home.open()).close();
    const text = `DROP INDEX transactiontags_by_text; DELETE FROM schema_state;
      INSERT INTO organizations (org, id, timezone, created_date) VALUES (1, 'near', 'UTC', '');
      INSERT INTO transactiontags (org, id, tag_text, tag_text_fold, tag_type, json) VALUES
        (1, 5, 'A', 'a', 'T', '{"id":5,"tagText":"A","tagType":"T"}'), (1, 6, 'a', 'a', 'T', '{"id":6,"tagText":"a","tagType":"T"}')`;
    await home.script(text);
    await refused(
      home,
      /transactiontags_by_text cannot be built: transactiontags 6 of organization near has the text of another tag/,
      /Change or delete/,
    );
  });

  /** Runs with the practice as a user sees it who has some rights only; `grants` gets the name of that user. */
  const asOther = async (
    { url, schema }: { url: string; schema: string },
    grants: (role: string) => string,
    run: (home: Home) => Promise<void>,
  ) => {
    const role = `${schema}_reader`;
    const named = new URL(url);
    [named.username, named.password] = [role, 'geheim'];
    await onPostgres((client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'geheim'; ${grants(role)}`));
    try {
      await run(postgresHome(named.href));
    } finally {
      await onPostgres((client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
    }
  };

  postgresTest('names what the user of the database may not change', async (database) => {
    await makeOlder(postgresHome(database.url));
    const { schema } = database;
    await asOther(
      database,
      (role) => `GRANT ALL ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
      (home) =>
        refused(
          home,
          /^Cannot change the table patients: the database does not let this user change its tables\.$/,
          /molar server migrate-schema as the user that owns/,
        ),
    );
  });

  postgresTest('says what the user of an empty database needs to make tables', (database) =>
    asOther(
      database,
      (role) => `GRANT USAGE ON SCHEMA ${database.schema} TO ${role}`,
      (home) =>
        refused(
          home,
          /does not let this user make tables\.$/,
          /molar server migrate-schema as the owner of the schema/,
        ),
    ),
  );

  postgresTest('says what the user needs to make the table of a new resource', async (database) => {
    await makeOlder(postgresHome(database.url));
    const { schema } = database;
    await asOther(
      database,
      (role) => `GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
      (home) => refused(home, /not those of this version, and .* make tables\.$/, /molar server migrate-schema/),
    );
  });

  it.each([
    [{ code: 'SQLITE_FULL' }, /^Cannot build the index x: the disk of the database is full\.$/, /upgrade resumes/],
    [{ code: 'STORE_FULL' }, /disk of the database is full/, /Free some space/],
    [{ code: 'SQLITE_READONLY' }, /does not let this user/, /owns/],
    [{ state: { code: '42501' } }, /does not let this user/, /owns/],
  ])('says what to do about %j', async (fault, message, next) => {
    const error = await within('build the index x', () => Promise.reject(fault)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(error).toMatchObject({ message: expect.stringMatching(message), next: expect.stringMatching(next) });
  });

  it('leaves every other fault as it is', async () => {
    const fault = Object.assign(new Error('other'), { code: 'SQLITE_BUSY' });
    await expect(within('build the index x', () => Promise.reject(fault))).rejects.toBe(fault);
  });

  onBothStores('says that a newer molar wrote the data', async (home) => {
    await makeOlder(home);
    const newer = "UPDATE schema_state SET value = '99.0.0' WHERE name = 'molar'";
    await home.script(newer);
    await refused(home, /newer molar \(99\.0\.0; this one is \d/, /Update molar/);
  });
});

describe('/readyz', () => {
  onBothStores('says that the tables are those of another version', async ({ data, database, open }) => {
    const options = { ...(data !== undefined && { data }), ...(database !== undefined && { database }) };
    const service = await testService([], options);
    const ready = () => service.app.inject({ method: 'GET', url: '/readyz' });
    expect([(await ready()).statusCode, (await ready()).json()]).toEqual([200, { status: 'ready' }]);
    await (await open({ schema: OLDER })).close();
    const reason =
      'The tables of the database were brought to another version of molar: restart this server with that version.';
    const { statusCode, headers, json } = await ready();
    expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
    expect(json()).toMatchObject({ status: 'not ready', reason, statusCode: 503, data: null, errors: [{}] });
    await service.close();
  });
});

describe('ping', () => {
  onBothStores('knows when the tables are those of another version, or on the way to one', async (home) => {
    const store = await home.open({ schema: OLDER });
    await store.ping();
    const other = await home.open();
    await other.ping();
    await expect(store.ping()).rejects.toThrow('were brought to another version');
    await home.script('DELETE FROM schema_state');
    for (const each of [store, other])
      await expect(each.ping()).rejects.toThrow('are being brought to another version');
    for (const each of [store, other]) await each.close();
    expect(SCHEMA.fingerprint).not.toBe(OLDER.fingerprint);
  });
});
