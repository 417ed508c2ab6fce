import { describe, expect } from 'vitest';
import MirrorStatus from '../../../src/commands/mirror/status.ts';
import MirrorSync from '../../../src/commands/mirror/sync.ts';
import { lockStatus } from '../../../src/core/mirror/access.ts';
import { databasePlace } from '../../../src/core/mirror/place.ts';
import { jsonFailure, runCommand } from '../../cli/runcommand.ts';
import { onPostgres, postgresTest } from '../../support/postgres.ts';

const NOBODY_ELSE = {
  ...{ pid: 4711, host: 'here.example.com', clock: { now: Date.now, sleep: async () => {} } },
  lifeOf: () => ({ alive: false }),
};

describe('an address of PostgreSQL', () => {
  const clock = { now: Date.now, sleep: async () => {} };
  const env = {
    ...{ MOLAR_CONFIG_DIR: '/nonexistent', MOLAR_URL: 'http://127.0.0.1:9' },
    ...{ MOLAR_ORGANIZATION: 'org-1', MOLAR_TOKEN: 'secret' },
  };

  postgresTest('whose schema is not there has no mirror, and nobody writes to it', async ({ url }) => {
    const missing = new URL(url);
    missing.searchParams.set('schema', 'molar_is_not_there');
    const ran = await runCommand('mirror:status', MirrorStatus, ['--to', missing.href, '--json'], { env, clock });
    expect(jsonFailure(ran)).toMatchObject({ exitCode: 4, code: 'mirror.missing' });
    expect(await lockStatus(databasePlace(missing.href, '--to', {}), NOBODY_ELSE)).toBeNull();
  });

  postgresTest('without any schema says that one has to be named', async ({ url }) => {
    const bare = new URL(url);
    bare.searchParams.set('options', '-c search_path=molar_is_not_there');
    const ran = await runCommand('mirror:sync', MirrorSync, ['--to', bare.href, '--json'], { env, clock });
    expect(jsonFailure(ran)).toMatchObject({
      ...{ exitCode: 9, code: 'mirror.unusable' },
      hint: 'Name one: add ?schema=NAME to the address. It is made where it is missing.',
    });
  });

  postgresTest('has no mirror where nothing says its form', async ({ url, schema }) => {
    const form = async (rows: string) => {
      const tables = `DROP TABLE IF EXISTS ${schema}._facts, ${schema}._mirror; CREATE TABLE ${schema}._mirror (id int)`;
      await onPostgres((client) =>
        client.query(`${tables}; CREATE TABLE ${schema}._facts (name text, value text); ${rows}`),
      );
      return jsonFailure(await runCommand('mirror:status', MirrorStatus, ['--to', url, '--json'], { env, clock }));
    };
    expect(await form('')).toMatchObject({ exitCode: 4, code: 'mirror.missing' });
    expect(await form(`INSERT INTO ${schema}._facts VALUES ('form', '2')`)).toMatchObject({
      exitCode: 9,
      message: expect.stringContaining('is a mirror of a newer version of molar'),
    });
  });
});
