import { Readable } from 'node:stream';
import sql from 'sql-template-tag';
import { describe, expect, it } from 'vitest';
import { importFile } from '../../../src/server/import/importer.ts';
import { listClients } from '../../../src/server/tokens/clients.ts';
import { listTokens } from '../../../src/server/tokens/tokens.ts';
import { entriesOf } from '../../contract/trail.ts';
import { dump } from '../../support/dump.ts';
import { ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { sharedService, type TestService, testService } from '../../support/service.ts';
import { places } from './importing.ts';

type Line = Readonly<Record<string, unknown>>;

const TOKEN = 'x'.repeat(16);
/** SHA-256 of it, shortened. */
const ID = '9c5729595fb2';
const token = { type: 'AccessToken', token: TOKEN, organizations: [ORGANIZATION], scopes: ['model:read'] };
const client = {
  type: 'ApiClient',
  clientId: 'app, the second',
  clientSecret: 'y'.repeat(16),
  organizations: [ORGANIZATION],
  scopes: ['model:read'],
};
const patient = line('PatientV1', { id: 5, firstName: 'Imported', lastName: 'Patient' });
const organization = { type: 'Organization', id: ORGANIZATION, timezone: 'UTC' };

/** Imports lines as the commands do. */
function imported({ service }: TestService, lines: readonly Line[], allowCredentials = false) {
  const text = lines.map((each) => `${JSON.stringify(each)}\n`).join('');
  return importFile(service, Readable.from([Buffer.from(text)]), { allowCredentials });
}

const status = async ({ call }: TestService, bearer: string) =>
  (await call('GET', '/patients', { token: bearer })).status;

describe('credentials in an import', () => {
  const service = sharedService(bareRecords);

  it.each<[string, Line]>([
    ['a token', token],
    ['a client', client],
    ['the deletion of a token', { type: 'AccessToken', token: TOKENS.read, deleted: true }],
    ['the deletion of a client', { type: 'ApiClient', clientId: 'app', deleted: true }],
  ])('are refused by line and flag where there is an organization, and all with them: %s', async (_name, given) => {
    const before = await dump(service.service);
    await expect(imported(service, [patient, given])).rejects.toMatchObject({
      name: 'ImportRefused',
      problems: [{ line: 2, field: 'type', message: expect.stringContaining('--allow-credentials') }],
    });
    expect(await dump(service.service)).toEqual(before);
    expect([await status(service, TOKEN), await status(service, TOKENS.read)]).toEqual([401, 200]);
  });

  it('are refused, too, in a file that brings another organization', async () => {
    const lines = [
      { type: 'Organization', id: 'new', timezone: 'UTC' },
      { ...token, organizations: ['new'] },
    ];
    await expect(imported(service, lines)).rejects.toMatchObject({ problems: [{ line: 2 }] });
  });

  it.each<[string, Line, string]>([
    ['a token of one character', { ...token, token: 'x' }, '1 token'],
    ['a token of 15 characters', { ...token, token: 'x'.repeat(15) }, '1 token'],
    ['a token of 15 characters and a space', { ...token, token: `${'x'.repeat(15)} ` }, '1 token'],
    ['a secret of one character', { ...client, clientSecret: 'y' }, '1 clientSecret'],
    ['a secret of 15 letters, each of two units', { ...client, clientSecret: '😀'.repeat(15) }, '1 clientSecret'],
  ])('are refused always when they are short: %s', async (_name, given, place) => {
    expect(await places(service, [given])).toEqual([place]);
  });

  it('are what their last lines say, and labelled as imported', async () => {
    const gone = { type: 'AccessToken', token: TOKEN, deleted: true };
    const fresh = await testService([]);
    for (const each of [fresh, service]) {
      await imported(each, [organization, gone, token, { ...client, deleted: true }], true);
      expect(await status(each, TOKEN)).toBe(200);
      const tokens = await listTokens(each.service.store.read);
      expect(tokens.find(({ id }) => id === ID)).toMatchObject({ label: 'imported', readOnly: false, locations: null });
      await imported(each, [token, gone], true);
      expect(await status(each, TOKEN)).toBe(401);
    }
    await fresh.close();
  });

  it('may be for organizations that come later, when that is said', async () => {
    const fresh = await testService([]);
    await imported(fresh, [organization, { ...token, organizations: ['later'] }], true);
    await imported(fresh, [{ ...organization, id: 'later' }]);
    expect((await fresh.call('GET', '/patients', { token: TOKEN, organization: 'later' })).status).toBe(200);
    await fresh.close();
  });

  it('have an entry when they are deleted, and none when there were none', async () => {
    const deletions = [
      { type: 'AccessToken', token: TOKEN, deleted: true },
      { type: 'ApiClient', clientId: client.clientId, deleted: true },
    ];
    await imported(service, [token, client], true);
    const said = async () =>
      (await entriesOf(service, () => imported(service, deletions, true))).map(({ operation, ids }) => [
        operation,
        ids,
      ]);
    expect(await said()).toEqual([
      ['tokens.delete', [ID]],
      ['clients.delete', [client.clientId]],
      ['server.import', []],
    ]);
    expect(await said()).toEqual([['server.import', []]]);
  });

  it('are taken when that is said, each with an entry that says which', async () => {
    await imported(service, [token, client], true);
    expect(await status(service, TOKEN)).toBe(200);
    const known = (await listClients(service.service.store.read)).find(({ clientId }) => clientId === client.clientId);
    expect(known).toMatchObject({ label: 'imported', readOnly: false, locations: null });
    const { text } = await service.call('POST', '//oauth/client_credential/accesstoken', {
      token: null,
      organization: null,
      body: { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret },
    });
    expect(text).toContain('access_token');
    await imported(service, [{ type: 'AccessToken', token: TOKEN, deleted: true }], true);
    expect(await status(service, TOKEN)).toBe(401);
  });
});

describe('credentials in a store without an organization', () => {
  it('are taken with the organizations that they are for, in any order', async () => {
    const service = await testService([]);
    await imported(service, [token, patient, organization, client]);
    expect(await status(service, TOKEN)).toBe(200);
    // The next file is one among others.
    await expect(imported(service, [{ ...token, scopes: ['model:write'] }])).rejects.toMatchObject({ total: 1 });
    await service.close();
  });

  it('open nothing that comes later', async () => {
    const service = await testService([]);
    const later = { ...token, organizations: [ORGANIZATION, 'later'] };
    // Named once, by the first line that does.
    await expect(imported(service, [organization, later, { ...later, token: 'z'.repeat(16) }])).rejects.toMatchObject({
      total: 1,
      problems: [{ line: 2, field: 'organizations', message: expect.stringContaining('later') }],
    });
    await expect(imported(service, [token])).rejects.toMatchObject({ total: 1 });
    await service.close();
  });

  it('are entries of the audit log: who has imported what', async () => {
    const service = await testService([]);
    const entries = await entriesOf(service, () => imported(service, [organization, token, client]));
    expect(entries.at(-1)).toMatchObject({ operation: 'server.import', record_count: 3 });
    const rows = await service.service.store.read.all<Record<string, unknown>>(
      sql`SELECT who, operation, ids, client, org FROM audit_entries
        WHERE operation IN ('tokens.create', 'clients.create') ORDER BY id`,
    );
    expect(rows).toEqual([
      { who: 'import', operation: 'tokens.create', ids: JSON.stringify([ID]), client: null, org: null },
      {
        who: 'import',
        operation: 'clients.create',
        ids: JSON.stringify([client.clientId]),
        client: client.clientId,
        org: null,
      },
    ]);
    await service.close();
  });
});
