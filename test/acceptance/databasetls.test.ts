import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { AUTHORITY, CertificateFolder, hasOpenssl, SERVER } from '../support/certificates.ts';
import { postgresTest, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { molarIn } from './inprocess.ts';
import { workplace } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let certificates: CertificateFolder;
let tunnel: Server | undefined;
let database: TestDatabase | undefined;

afterAll(() => database?.drop());

/** The tables are made once: how a database is reached does not depend on what is in it. */
const reachTest = (...[name, run]: Parameters<typeof postgresTest>) =>
  postgresTest(name, run, async () => {
    database ??= await testDatabase();
    return { ...database, drop: async () => {} };
  });

beforeEach(async () => {
  place = await workplace();
  certificates = new CertificateFolder(place.path);
});

afterEach(async () => {
  tunnel?.close();
  tunnel = undefined;
  await place.remove();
});

/** What a client of PostgreSQL sends before anything else when it wants TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Speaks TLS, and only that, in front of a database that need not; answers its port. */
async function tunnelTo(address: string, certificate: string): Promise<number> {
  const { cert, key } = certificates.pem(certificate);
  const { hostname, port } = new URL(address);
  const server = createServer((near) => {
    near.on('error', () => near.destroy());
    near.once('data', (first) => {
      if (!first.equals(SSL_REQUEST)) return near.destroy();
      near.write('S');
      const secure = new TLSSocket(near, { isServer: true, cert, key });
      const far = connect(Number(port || 5432), hostname);
      for (const socket of [secure, far]) {
        socket.on('error', () => undefined);
        socket.once('close', () => [near, far].map((other) => other.destroy()));
      }
      return secure.pipe(far).pipe(secure);
    });
  });
  tunnel = server;
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return (server.address() as AddressInfo).port;
}

/** Any address that is not one of the loopback is another machine's; this one leads here all the same. */
const REMOTE = '0.0.0.0';

function at(url: string, host: string, port: number | string, more = ''): string {
  const changed = new URL(url);
  [changed.hostname, changed.port] = [host, String(port)];
  return changed.href + more;
}

/** `env` is that of this process, too, in which the driver reads it. */
async function migrate(url: string, env: Readonly<Record<string, string>> = {}) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  try {
    const words = ['server', 'migrate-schema', '--database', url, '--json'];
    const { code, stderr } = await molarIn(place.path, words, env);
    return { code, message: stderr };
  } finally {
    vi.unstubAllEnvs();
  }
}

const DONE = { code: 0, message: '' };
const refused = (...words: readonly string[]) => ({
  code: 9,
  message: expect.stringMatching(words.join('[\\s\\S]*')),
});

reachTest(
  'a database on another machine that does not speak TLS is refused unless the address says so',
  async ({ url }) => {
    const remote = at(url, REMOTE, new URL(url).port || 5432);
    expect(await migrate(remote)).toEqual(refused('does not speak TLS', 'sslmode=disable'));
    expect(await migrate(remote, { PGSSLMODE: 'prefer' })).toEqual(refused('does not speak TLS'));
    expect(await migrate(`${remote}&sslmode=disable`)).toEqual(DONE);
    expect(await migrate(remote, { PGSSLMODE: 'disable' })).toEqual(DONE);
    expect(await migrate(url)).toEqual(DONE);
  },
);

describe('the certificate of a database', () => {
  beforeEach((context) => {
    if (!hasOpenssl) context.skip('openssl is not installed');
    certificates.make('authority', '/CN=Authority', AUTHORITY);
    certificates.make('other', '/CN=Other', AUTHORITY);
  });

  reachTest('on another machine is of a known authority and for its host', async ({ url }) => {
    certificates.make('database', '/CN=db', SERVER.replace('127.0.0.1', REMOTE), 'authority');
    const remote = at(url, REMOTE, await tunnelTo(url, 'database'));
    const root = join(place.path, 'authority.pem');
    expect(await migrate(remote)).toEqual(refused('no known authority', 'PGSSLROOTCERT'));
    expect(await migrate(remote, { PGSSLROOTCERT: join(place.path, 'other.pem') })).toEqual(
      refused('no known authority'),
    );
    expect(await migrate(remote, { PGSSLROOTCERT: root })).toEqual(DONE);
    expect(await migrate(`${remote}&sslmode=verify-full&sslrootcert=${root}`)).toEqual(DONE);
    const saved = join(place.path, 'saved.pem');
    await writeFile(saved, `\ufeff${await readFile(root, 'utf8')}`, 'utf16le');
    expect(await migrate(`${remote}&sslmode=verify-full&sslrootcert=${saved}`)).toEqual(DONE);
    expect(await migrate(`${remote}&sslmode=require`)).toEqual(DONE);
    expect(await migrate(`${remote}&sslrootcert=nowhere.pem`)).toEqual(
      refused('sslrootcert of the database cannot be read'),
    );
  });

  reachTest('that is for another host is taken only where the address says so', async ({ url }) => {
    certificates.make('database', '/CN=db', SERVER.replace('IP:127.0.0.1', 'DNS:db.example'), 'authority');
    const local = at(url, '127.0.0.1', await tunnelTo(url, 'database'));
    const root = `&sslrootcert=${join(place.path, 'authority.pem')}`;
    expect(await migrate(`${local}&sslmode=verify-full${root}`)).toEqual(refused('certificate for another host'));
    expect(
      await migrate(local, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: join(place.path, 'authority.pem') }),
    ).toEqual(refused('certificate for another host'));
    expect(await migrate(`${local}&sslmode=verify-ca${root}`)).toEqual(DONE);
    expect(await migrate(`${local}&sslmode=require`)).toEqual(DONE);
  });

  reachTest('that has expired is refused', async ({ url }) => {
    certificates.make('database', '/CN=db', SERVER, 'authority', 0);
    const local = at(url, '127.0.0.1', await tunnelTo(url, 'database'));
    const root = join(place.path, 'authority.pem');
    // It ends in the second in which it was made.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await migrate(`${local}&sslmode=verify-full`, { PGSSLROOTCERT: root })).toEqual(refused('not valid now'));
  });
});
