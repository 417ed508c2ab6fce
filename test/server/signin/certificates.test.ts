import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import sql from 'sql-template-tag';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openLog } from '../../../src/server/log.ts';
import { type RunningServer, type ServeOptions, serve } from '../../../src/server/serve.ts';
import { openSqliteStore } from '../../../src/server/store/sqlite/store.ts';
import { AUTHORITY, CertificateFolder, CLIENT, hasOpenssl, SERVER } from '../../support/certificates.ts';
import { ORGANIZATION, OTHER_ORGANIZATION, PATIENTS, TOKENS } from '../../support/ids.ts';
import { allRecords } from '../../support/practice.ts';

let folder: string;
let files: CertificateFolder;
let server: RunningServer;

beforeEach((context) => {
  if (!hasOpenssl) context.skip('openssl is not installed');
});

beforeAll(async () => {
  if (!hasOpenssl) return;
  folder = await mkdtemp(join(tmpdir(), 'molar-certificates-'));
  files = new CertificateFolder(folder);
  files.make('server', '/CN=127.0.0.1', SERVER);
  files.make('ca', '/CN=Practice CA', AUTHORITY);
  files.make('other-ca', '/CN=Practice CA', AUTHORITY);
  files.make('kiosk', '/O=Practice/OU=Front/OU=Desk/CN=kiosk', CLIENT, 'ca');
  files.make('byfingerprint', '/CN=printer', CLIENT, 'ca');
  files.make('unknown', '/CN=nobody', CLIENT, 'ca');
  files.make('stranger', '/CN=kiosk', CLIENT, 'other-ca');
  files.make('own', '/CN=kiosk', CLIENT);
  files.make('expired', '/CN=kiosk', CLIENT, 'ca', -1);
  files.make('forserving', '/CN=kiosk', SERVER, 'ca');
  files.make('forged', '/CN=kiosk', CLIENT, 'kiosk');
  const lines = createWriteStream(files.path('practice.ndjson'));
  for (const record of allRecords()) lines.write(`${JSON.stringify(record)}\n`);
  await new Promise<void>((done) => lines.end(done));
  const everything = { organizations: [ORGANIZATION], scopes: ['model:read', 'model:write'] };
  const rules = [
    { when: { CN: 'kiosk', OU: 'Desk', O: 'Practice' }, ...everything },
    { when: { fingerprint: files.fingerprint('byfingerprint') }, ...everything, readOnly: true },
    { when: { CN: 'kiosk' }, organizations: [OTHER_ORGANIZATION], scopes: ['model:read'] },
  ];
  await writeFile(files.path('claims.json'), JSON.stringify({ rules }));
  server = await serve(serveOptions());
});

afterAll(async () => {
  await server?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

function serveOptions(more: Partial<ServeOptions> = {}): ServeOptions {
  return {
    host: '127.0.0.1',
    port: 0,
    data: files.path('data'),
    imports: [files.path('practice.ndjson')],
    allowCredentials: false,
    requestTimeoutSeconds: 60,
    maxDocumentMegabytes: 1,
    tls: { cert: files.path('server.pem'), key: files.path('server.key'), clientCa: files.path('ca.pem') },
    signIn: { certificates: { claims: files.path('claims.json') } },
    behindProxy: false,
    rateLimit: 0,
    log: openLog('silent', { write: () => {} }),
    ...more,
  };
}

interface Sent extends Pick<ConnectionOptions, 'session' | 'maxVersion'> {
  readonly method?: string;
  readonly path?: string;
  readonly authorization?: string;
  readonly socket?: TLSSocket;
  readonly agent?: Agent;
}

/** The status that a client with a certificate gets; 0 when the connection itself is refused. */
async function status(name: string | undefined, sent?: Sent): Promise<number> {
  return (await answer(name, sent)).status;
}

function answer(name: string | undefined, { method = 'GET', path, authorization, socket, agent, ...tls }: Sent = {}) {
  const headers = {
    'organization-id': ORGANIZATION,
    ...(authorization !== undefined && { authorization }),
  };
  return new Promise<{ status: number; text: string }>((done) => {
    const sent = request(new URL(path ?? `/api/v1/patients/${PATIENTS.ann}`, server.url), {
      ...{ method, headers, rejectUnauthorized: false, agent: agent ?? false },
      ...(name !== undefined && files.pem(name)),
      ...(socket !== undefined && { createConnection: () => socket }),
      ...tls,
    });
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      done({ status: response.statusCode ?? 0, text });
    });
    sent.on('error', () => done({ status: 0, text: '' }));
    sent.end();
  });
}

const REFUSED = expect.toSatisfy((each: number) => each === 401 || each === 0);

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('with %s', (maxVersion) => {
  it.each<[string, string | undefined, unknown]>([
    ['a certificate whose rule gives rights', 'kiosk', 200],
    ['one whose rule names its fingerprint', 'byfingerprint', 200],
    ['one without a rule', 'unknown', 403],
    ['no certificate', undefined, 401],
    ['one of another authority of the same name', 'stranger', REFUSED],
    ['one that it has signed itself', 'own', REFUSED],
    ['one that has expired', 'expired', REFUSED],
    ['one for servers', 'forserving', REFUSED],
    ['one that was signed by a client', 'forged', REFUSED],
  ])('%s: %s gets %s', async (_what, name, expected) => {
    expect(await status(name, { maxVersion })).toEqual(expected);
  });

  it('a wrong certificate opens what is for everybody, and nothing more', async () => {
    expect(await status('stranger', { maxVersion, path: '/healthz' })).toBe(200);
    expect(await status(undefined, { maxVersion, path: '/healthz' })).toBe(200);
  });

  it('a token that was sent counts, whatever the certificate says', async () => {
    const bearer = (token: string) => ({ maxVersion, authorization: `Bearer ${token}` });
    expect(await status('kiosk', bearer('unknown'))).toBe(401);
    expect(await status('kiosk', bearer(TOKENS.other))).toBe(403);
    expect(await status('kiosk', { maxVersion, authorization: '' })).toBe(401);
    expect(await status('unknown', bearer(TOKENS.full))).toBe(200);
    expect(await status('stranger', bearer(TOKENS.full))).toBe(200);
  });

  it('a session that goes on has the rights of its certificate, and one without a certificate none', async () => {
    const resumed = async (name: string | undefined) => {
      const session = await sessionOf(name, maxVersion);
      const socket = await opened(name, { session, maxVersion });
      return { reused: socket.isSessionReused(), status: await status(name, { socket }) };
    };
    expect(await resumed('kiosk')).toEqual({ reused: true, status: 200 });
    expect(await resumed('stranger')).toEqual({ reused: true, status: 401 });
    expect(await resumed(undefined)).toEqual({ reused: true, status: 401 });
  });
});

it('who has no certificate is told to send a token, who has a wrong one what is wrong with it', async () => {
  const errors = async (name?: string) => JSON.parse((await answer(name)).text).errors[0];
  expect(await errors()).toMatchObject({ code: 'auth.token_missing' });
  expect(await errors('expired')).toMatchObject({
    code: 'auth.certificate_refused',
    description: expect.stringContaining('CERT_HAS_EXPIRED'),
  });
});

it('a rule that only reads refuses writing', async () => {
  const path = `/api/v1/patients/${PATIENTS.ann}`;
  expect(await status('byfingerprint', { path })).toBe(200);
  expect(await status('byfingerprint', { method: 'PUT', path })).toBe(403);
});

it('whom a refusal was for stands in the line of the log', async () => {
  const lines: string[] = [];
  const log = openLog('info', { write: (text) => lines.push(text) });
  const logging = await serve(serveOptions({ data: ':memory:', log }));
  try {
    const path = `${logging.url}/api/v1/patients/${PATIENTS.ann}`;
    for (let n = 0; n < 2; n++) expect(await status('byfingerprint', { method: 'PUT', path })).toBe(403);
    expect(await status('unknown', { path })).toBe(403);
  } finally {
    await logging.close();
  }
  const refused = lines.map((line) => JSON.parse(line)).filter((line) => line.status === 403);
  const ids = refused.map(({ token }) => token);
  expect(refused).toMatchObject(
    Array(3).fill({ address: '127.0.0.1', token: expect.stringMatching(/^[0-9a-f]{32}$/) }),
  );
  expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([true, false]);
});

it('a connection over the budget is told so once, whole', async () => {
  const full = await serve(serveOptions({ data: ':memory:', budgets: { connections: 1 } }));
  const port = Number(new URL(full.url).port);
  const held = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  try {
    await once(held, 'secureConnect');
    const refused = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    let text = '';
    for await (const chunk of refused) text += chunk;
    expect(text.match(/HTTP\/1\.1 503 /g)).toHaveLength(1);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({ errors: [{ source: 'connections' }] });
  } finally {
    held.destroy();
    await full.close();
  }
});

it('a certificate that ends while its connection stays is refused from then on', async () => {
  let later = 0;
  let connections = 0;
  const aging = await serve(serveOptions({ data: ':memory:', clock: () => Date.now() + later }));
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = (
      (create) =>
      (...args: Parameters<typeof create>) => {
        connections++;
        return create.apply(agent, args);
      }
    )(agent.createConnection);
    const at = { agent, path: `${aging.url}/api/v1/patients/${PATIENTS.ann}` };
    const before = await status('kiosk', at);
    later = 3 * 24 * 3_600_000;
    expect([before, await status('kiosk', at)]).toEqual([200, 401]);
    expect(connections).toBe(1);
    agent.destroy();
  } finally {
    await aging.close();
  }
});

it('who it was stands in the audit log, one whose name is no name under its fingerprint', async () => {
  files.make('twonames', '/CN=kiosk/CN=printer/O=Practice/OU=Desk', CLIENT, 'ca');
  expect(await status('kiosk')).toBe(200);
  expect(await status('twonames')).toBe(200);
  const fingerprint = files.fingerprint('twonames');
  const store = await openSqliteStore(files.path('data'), { serving: false });
  try {
    await expect
      .poll(async () => {
        const rows = await store.read.all<{ who: string }>(sql`SELECT DISTINCT who FROM audit_entries`);
        return rows.map(({ who }) => who);
      })
      .toEqual(expect.arrayContaining(['certificate kiosk', `certificate ${fingerprint}`]));
  } finally {
    await store.close();
  }
});

it('other authorities, read on SIGHUP, end the rights that the earlier ones gave', async () => {
  const clientCa = files.path('changing-ca.pem');
  await copyFile(files.path('ca.pem'), clientCa);
  const { tls } = serveOptions();
  const earlier = server;
  let reads = 0;
  const write = (line: string) => {
    if (line.includes('read again')) reads++;
  };
  const log = openLog('info', { write });
  server = await serve(serveOptions({ data: files.path('changing'), ...(tls && { tls: { ...tls, clientCa } }), log }));
  try {
    const session = await sessionOf('kiosk', 'TLSv1.3');
    const [held, plain] = [await opened('kiosk', {}), await opened(undefined, {})];
    process.emit('SIGHUP');
    await expect.poll(() => reads).toBe(1);
    expect([held.closed, plain.closed, await status('kiosk')]).toEqual([false, false, 200]);
    await copyFile(files.path('other-ca.pem'), clientCa);
    process.emit('SIGHUP');
    await expect.poll(() => [reads, held.closed, plain.closed]).toEqual([2, true, false]);
    plain.destroy();
    // The rule of the other one is for another organization.
    expect([await status('kiosk'), await status('stranger')]).toEqual([401, 403]);
    expect(await status('kiosk', { socket: await opened('kiosk', { session, maxVersion: 'TLSv1.3' }) })).toBe(401);
  } finally {
    await server.close();
    server = earlier;
  }
});

function opened(name: string | undefined, options: ConnectionOptions): Promise<TLSSocket> {
  const { port } = new URL(server.url);
  const socket = connect({
    ...{ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false },
    ...(name !== undefined && files.pem(name)),
    ...options,
  });
  return new Promise((done, failed) => {
    socket.once('secureConnect', () => done(socket));
    socket.once('error', failed);
  });
}

/** A session that can be resumed: with TLS 1.3 it comes after the handshake. */
async function sessionOf(name: string | undefined, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const socket = await opened(name, { maxVersion });
  const session = await new Promise<Buffer>((done) => {
    if (maxVersion === 'TLSv1.2') done(socket.getSession() as Buffer);
    else socket.once('session', done);
  });
  socket.destroy();
  return session;
}
