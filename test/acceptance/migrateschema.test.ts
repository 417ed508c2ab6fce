import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openConnection } from '../../src/sqlite/open.ts';
import { onPostgres, postgresTest, type TestDatabase } from '../support/postgres.ts';
import { molarIn } from './inprocess.ts';
import { ORGANIZATION, PATIENT, type Served, serve, TOKEN, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
const running: Served[] = [];

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 5);
});

afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  await place.remove();
});

const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE';

/** Runs with the address of a user who may look into the schema of a database, and nothing else. */
async function asServing(
  database: TestDatabase,
  work: (url: string, asOwner: (text: string) => Promise<void>, role: string) => Promise<void>,
): Promise<void> {
  const role = `${database.schema}_serving`;
  const asOwner = (text: string) => onPostgres(async (client) => void (await client.query(text)), database.url);
  await asOwner(`CREATE ROLE ${role} LOGIN PASSWORD 'geheim'; GRANT USAGE ON SCHEMA ${database.schema} TO ${role}`);
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'geheim'];
  try {
    await work(url.href, asOwner, role);
  } finally {
    await asOwner(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
}

postgresTest('the owner makes the tables, and who serves them reads and writes rows only', (database) =>
  asServing(database, async (url, asOwner, role) => {
    const starting = ['serve', '--port', '0', '--database', url, '--files', 'files', '--import', 'fixture.ndjson'];
    const refused = async () => {
      const { code, stdout, stderr } = await molarIn(place.path, starting);
      expect({ code, stdout }, stderr).toEqual({ code: 9, stdout: '' });
      expect(stderr).not.toContain('geheim');
      return stderr;
    };
    expect(await refused()).toContain('molar server migrate-schema');
    const migrate = () => molarIn(place.path, ['server', 'migrate-schema', '--database', database.url, '--json']);
    const made = JSON.parse((await migrate()).stdout);
    expect(made).toMatchObject({ changed: true, columns: [] });
    expect(made.tables).toEqual(expect.arrayContaining(['patients', 'audit_entries', 'schema_migrations']));
    expect(made.indexes).toContain('patients_by_last_name_fold');
    expect(JSON.parse((await migrate()).stdout)).toMatchObject({
      changed: false,
      migrations: [],
      tables: [],
      indexes: [],
    });

    const grant = (rights: string) => asOwner(`GRANT ${rights} ON ALL TABLES IN SCHEMA ${database.schema} TO ${role}`);
    await grant('SELECT');
    const lacking = await refused();
    expect(lacking).toMatch(/lacks INSERT, UPDATE, DELETE on tables/);
    // What it says is what helps.
    await asOwner(/GRANT .*;/.exec(lacking)?.[0] ?? '');
    const served = await serve(place.path, starting.slice(3));
    running.push(served);
    const call = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION };
      const response = await fetch(`${served.url}/api/v1${path}`, {
        method,
        headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.status;
    };
    const tag = { tagText: 'New', tagType: 'PAYMENT_TAG', isPredefined: false };
    expect(await call('POST', '/transactiontags', tag)).toBe(201);
    expect(await call('PUT', `/patients/${PATIENT}`, { city: 'Elsewhere' })).toBe(200);
    expect(await call('GET', '/patients')).toBe(200);
    const data = ['--database', url, '--files', 'files'];
    for (const args of [
      ['server', 'tokens', 'create', '--for', ORGANIZATION, ...data],
      ['server', 'import', 'fixture.ndjson', '--allow-credentials', ...data],
      ['server', 'check', ...data],
    ]) {
      expect((await molarIn(place.path, args)).code, args.join(' ')).toBe(0);
    }
    expect(await served.stop()).toBe(0);

    // Another version changed the tables: who serves only may not start, and changes nothing.
    await asOwner(
      `DROP INDEX patients_by_last_name_fold; UPDATE schema_state SET value = 'other' WHERE name = 'fingerprint'`,
    );
    expect(await refused()).toContain('molar server migrate-schema');
    expect(JSON.parse((await migrate()).stdout)).toMatchObject({
      changed: true,
      indexes: ['patients_by_last_name_fold'],
    });
    await asOwner(`REVOKE DELETE ON patients FROM ${role}`);
    expect(await refused()).toMatch(new RegExp(`lacks DELETE on tables .*: patients\\.[\\s\\S]*GRANT ${RIGHTS} ON`));
  }),
);

it('a data folder is brought to this version while no server has it', async () => {
  const migrate = (...args: string[]) => molarIn(place.path, ['server', 'migrate-schema', '--data', 'd', ...args]);
  expect(await migrate()).toMatchObject({ code: 9, stderr: expect.stringContaining('No such data folder') });
  const served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson']);
  running.push(served);
  expect(await migrate()).toMatchObject({ code: 9, stderr: expect.stringContaining('Another server is running') });
  await served.stop();
  expect(await migrate()).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
  const older = openConnection(join(place.path, 'd', 'molar.sqlite'));
  older.exec("DROP INDEX patients_by_last_name_fold; DELETE FROM schema_state WHERE name = 'fingerprint'");
  older.close();
  const { code, stdout } = await migrate('--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { changed: true, indexes: ['patients_by_last_name_fold'] }]);
});
