import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AUTHORITY, CertificateFolder, CLIENT, hasOpenssl, SERVER } from '../support/certificates.ts';
import { molarIn } from './inprocess.ts';
import { connection, ORGANIZATION, serve, text, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
const at = (name: string) => join(place.path, name);

beforeAll(async () => {
  place = await workplace();
});
afterAll(() => place.remove());

const crlf = (plain: string) => plain.replaceAll('\n', '\r\n');

type Encode = (plain: string) => Buffer;

/** How texts are saved, and how Windows saves some: who reads one without asking, does not read it. test/text has the others. */
const ENCODINGS: Readonly<Record<string, Encode>> = {
  'UTF-8': (plain) => Buffer.from(plain),
  'UTF-16LE, CRLF': (plain) => Buffer.from(`\ufeff${crlf(plain)}`, 'utf16le'),
};

/** Every text that a server is given. */
const GIVEN = [
  'molar.toml',
  'fixture.ndjson',
  'more.ndjson',
  'server.pem',
  'server.key',
  'ca.pem',
  'claims.json',
  'audit.pem',
  'host',
];

const CONFIG = `# Zoë
data = "data"
host = { file = "host" }
port = 0
import = ["fixture.ndjson"]
tls-cert = "server.pem"
tls-key = "server.key"
tls-client-ca = "ca.pem"
tls-client-claims = "claims.json"
audit-key = "audit.pem"
audit-checkpoints = "shipped"
`;

describe('a server whose every text is in another encoding', () => {
  beforeEach((context) => {
    if (!hasOpenssl) context.skip('openssl is not installed');
  });

  beforeAll(async () => {
    if (!hasOpenssl) return;
    const certificates = new CertificateFolder(place.path);
    certificates.make('ca', '/CN=authority', AUTHORITY);
    certificates.make('server', '/CN=127.0.0.1', SERVER, 'ca');
    certificates.make('client', '/CN=front desk', CLIENT, 'ca');
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('audit.pem')]);
    const rule = { when: { CN: 'front desk' }, organizations: [ORGANIZATION], scopes: ['model:read'] };
    await writeFile(at('claims.json'), JSON.stringify({ rules: [rule] }, null, 1));
    await writeFile(at('molar.toml'), CONFIG);
    await writeFile(at('host'), '127.0.0.1\n');
    await writeFixture(place.path, 9);
    const patient = { type: 'PatientV1', organizationId: ORGANIZATION, id: 7000000000900 };
    await writeFile(at('more.ndjson'), `${JSON.stringify({ ...patient, firstName: 'Zoë 😀', lastName: 'Łuk' })}\n\n`);
    for (const [index, encode] of Object.values(ENCODINGS).entries()) {
      await mkdir(at(`e${index}`));
      for (const name of GIVEN) {
        await writeFile(at(`e${index}/${name}`), encode(await readFile(at(name), 'utf8')), { mode: 0o600 });
      }
    }
  });

  /** All that tells one server from another: what it serves, to whom, and what it signs. */
  async function told(folder: string, encode: Encode) {
    const own = at(folder);
    const served = await serve(own, ['--config', 'molar.toml']);
    try {
      const more = await molarIn(own, ['server', 'import', 'more.ndjson', '--data', 'data']);
      expect(more, more.stderr).toMatchObject({ code: 0 });
      const list = [
        'patients',
        'list',
        '--csv',
        '--ca-cert',
        'ca.pem',
        '--fields',
        'id,firstName,lastName,preferredLocation.id',
      ];
      const patients = await molarIn(own, list, connection(served.url));
      expect(patients, patients.stderr).toMatchObject({ code: 0 });
      const [names, ids] = ['kind,id,name\nlocation,5,Zürich\n', 'id\n5\n'];
      const env = { ...connection(served.url), MOLAR_CONFIG_DIR: join(own, 'config') };
      const pipe = async (args: readonly string[], input: string) => {
        const child = await molarIn(own, args, env, encode(input));
        return { ...child, stderr: child.stderr.replaceAll(own, '') };
      };
      const imported = await pipe(['names', 'import', '-'], names);
      const listed = await molarIn(own, ['names', 'list', '--csv'], env);
      const deletion = await pipe(['documents', 'delete', '-', '--dry-run'], ids);
      const byCertificate = await asClient(served.url);
      return { patients, imported, listed, deletion: deletion.stdout.replaceAll(served.url, ''), byCertificate };
    } finally {
      await served.stop();
    }
  }

  /** Who has a certificate of the authority needs no token. */
  async function asClient(url: string): Promise<unknown> {
    const { cert, key } = new CertificateFolder(place.path).pem('client');
    const ca = await readFile(at('ca.pem'));
    const headers = { 'Organization-ID': ORGANIZATION };
    const response = await new Promise<import('node:http').IncomingMessage>((done, fail) =>
      request(`${url}/api/v1/patients/7000000000900`, { ca, cert, key, headers }, done).once('error', fail).end(),
    );
    return [response.statusCode, JSON.parse(await text(response)).data?.lastName];
  }

  async function verified(folder: string, encode: Encode) {
    const own = at(folder);
    await writeFile(join(own, 'copy'), encode(await readFile(join(own, 'shipped'), 'utf8')));
    const keys = ['--audit-key', 'audit.pem', '--audit-checkpoints', 'copy'];
    const { code, stderr } = await molarIn(own, ['server', 'audit', 'verify', '--data', 'data', ...keys]);
    return { code, stderr };
  }

  test('does what one with UTF-8 does', async () => {
    const [[, plain], ...others] = Object.entries(ENCODINGS) as [[string, Encode], ...[string, Encode][]];
    const expected = await told('e0', plain);
    expect(expected.patients.stdout).toContain('7000000000900,Zoë 😀,Łuk,');
    expect(expected.byCertificate).toEqual([200, 'Łuk']);
    expect(expected.listed.stdout).toContain('Zürich');
    expect(await verified('e0', plain)).toEqual({ code: 0, stderr: '' });
    for (const [index, [name, encode]] of others.entries()) {
      const folder = `e${index + 1}`;
      expect(await told(folder, encode), name).toEqual(expected);
      expect(await verified(folder, encode), name).toEqual({ code: 0, stderr: '' });
    }
  });
});

test.each([
  ['server import', ['server', 'import', 'bad', '--data', 'd'], 'Byte 4 of the line is not UTF-8. Save it as UTF-8'],
  ['serve --import', ['serve', '--port', '0', '--data', 'd', '--import', 'bad'], 'Byte 4 of the line is not UTF-8.'],
  ['serve --config', ['serve', '--config', 'bad'], 'bad cannot be read as text: byte 9, in line 2, is 0xE9'],
  [
    'serve --oidc-claims',
    [
      ...['serve', '--port', '0', '--data', 'd'],
      ...['--oidc-issuer', 'http://127.0.0.1:1', '--oidc-audience', 'a', '--oidc-claims', 'bad'],
    ],
    'bad: byte 9, in line 2, is 0xE9',
  ],
])('%s refuses Windows-1252, and says where', async (_, args, message) => {
  await writeFile(at('bad'), Buffer.from('{}  \nCaf\xe9\n', 'latin1'));
  const ran = await molarIn(place.path, args);
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain(message);
});

test('an import in UTF-16 that is cut within a character is refused with its place', async () => {
  const whole = Buffer.from('\ufeff{}\n{"a": 1}\n', 'utf16le');
  await writeFile(at('cut'), whole.subarray(0, whole.length - 1));
  const ran = await molarIn(place.path, ['server', 'import', 'cut', '--data', 'd']);
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('The file cannot be read as text: byte 25, in line 2, is 0x0A');
});
