import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEMO_ORGANIZATION_ID } from '../../src/demo/practice.ts';
import { OWNER_ONLY } from '../support/capabilities.ts';
import { otherUser } from '../support/services.ts';
import { molarIn } from './inprocess.ts';
import {
  connection,
  fixturePatients,
  ORGANIZATION,
  PATIENT,
  type Served,
  serve,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
const running: Served[] = [];

async function started(...args: string[]): Promise<Served> {
  const served = await serve(place.path, args);
  running.push(served);
  return served;
}

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, 5);
});

afterEach(async () => {
  for (const served of running.splice(0)) await served.stop('SIGKILL');
  await place.remove();
});

test('a second server on the same folder is refused, what was answered before kill -9 is there in the next one, and SIGINT ends it with 0', async () => {
  const first = await started('--data', 'd', '--import', 'fixture.ndjson');
  const second = await molarIn(place.path, ['serve', '--port', '0', '--data', 'd']);
  expect(second).toMatchObject({ code: 9, stdout: '', stderr: expect.stringContaining('Another server is running') });
  const { type: _, organizationId: __, id: ___, ...patient } = fixturePatients(1)[0] as Record<string, unknown>;
  const ids: number[] = [];
  for (let n = 0; n < 20; n++) {
    const response = await fetch(`${first.url}/api/v1/patients`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer acceptance-token',
        'organization-id': ORGANIZATION,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ ...patient, firstName: `New${n}` }),
    });
    ids.push(((await response.json()) as { data: { id: number } }).data.id);
  }
  await first.stop('SIGKILL');
  const third = await started('--data', 'd');
  const listed = await molarIn(
    place.path,
    ['patients', 'list', '--fields', 'id', '--no-header'],
    connection(third.url),
  );
  expect(listed.stdout.trim().split('\n').map(Number)).toEqual([...fixturePatients(5).map(({ id }) => id), ...ids]);
  expect(await third.stop('SIGINT')).toBe(0);
});

test('listening beyond this machine needs TLS or --behind-proxy', async () => {
  const refused = await molarIn(place.path, ['serve', '--host', '0.0.0.0', '--port', '0', '--data', 'd']);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--behind-proxy') });
});

test('every address of localhost counts the connections of the server, or is closed', async () => {
  const { url } = await started('--data', ':memory:', '--host', 'localhost', '--max-connections', '1');
  const port = Number(new URL(url).port);
  const held = connect(port, '127.0.0.1');
  await once(held, 'connect');
  try {
    for (const address of ['127.0.0.1', '::1']) {
      const socket = connect(port, address);
      socket.on('error', () => undefined).end('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const answer = await text(socket).catch(() => '');
      expect(answer === '' || answer.startsWith('HTTP/1.1 503 ')).toBe(true);
    }
  } finally {
    held.destroy();
  }
});

test('a bad import file is refused before listening, each problem with its line and field', async () => {
  const lines = [
    { type: 'Organization', organizationId: 'o', id: 'o', timezone: 'America/Denver' },
    { type: 'PatientV1', organizationId: 'o', id: 1, firstName: 'A', lastName: 'B', preferredLocation: { id: 7 } },
    { type: 'Nonsense', organizationId: 'o', id: 1 },
  ];
  await writeFile(join(place.path, 'bad.ndjson'), lines.map((line) => JSON.stringify(line)).join('\n'));
  const refused = await molarIn(place.path, ['serve', '--port', '0', '--data', 'd', '--import', 'bad.ndjson']);
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('line 2, preferredLocation.id');
  expect(refused.stderr).toContain('line 3, type');
  const missing = await molarIn(place.path, ['server', 'import', 'nosuch.ndjson', '--data', 'd']);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('nosuch.ndjson') });
});

test('import and tokens work on the data of a running server', async () => {
  const { url } = await started('--data', 'd', '--import', 'fixture.ndjson');
  const more = fixturePatients(7).map((patient) => `${JSON.stringify(patient)}\n`);
  await writeFile(join(place.path, 'more.ndjson'), more.join(''));
  const imported = await molarIn(place.path, ['server', 'import', 'more.ndjson', '--data', 'd', '--json']);
  expect(JSON.parse(imported.stdout)).toEqual({ imported: { PatientV1: 7 }, deleted: 0 });
  const made = await molarIn(place.path, [
    'server',
    'tokens',
    'create',
    '--for',
    ORGANIZATION,
    '--data',
    'd',
    '--json',
  ]);
  const { id, token } = JSON.parse(made.stdout) as { id: string; token: string };
  expect((await molarIn(place.path, ['patients', 'count'], connection(url, token))).stdout).toBe('7\n');
  const listed = await molarIn(place.path, ['server', 'tokens', 'list', '--data', 'd']);
  expect(listed.stdout).toContain(id);
  expect(listed.stdout).not.toContain(token);
  expect((await molarIn(place.path, ['server', 'tokens', 'revoke', id, '--data', 'd'])).code).toBe(0);
  expect((await molarIn(place.path, ['patients', 'count'], connection(url, token))).code).toBe(3);
  expect((await molarIn(place.path, ['server', 'tokens', 'revoke', id, '--data', 'd'])).code).toBe(4);
});

test('commands on the data of a server tell a folder that is not there, and take no argument from standard input', async () => {
  for (const args of [['list'], ['revoke', '3f9a1c0b7d2e']]) {
    const ended = await molarIn(place.path, ['server', 'tokens', ...args, '--data', 'mistyped']);
    expect(ended).toMatchObject({
      code: 9,
      stdout: '',
      stderr: expect.stringContaining('No such data folder: mistyped'),
    });
  }
  expect(await readdir(place.path)).not.toContain('mistyped');
  for (const args of [['import'], ['tokens', 'revoke']]) {
    const ended = await molarIn(place.path, ['server', ...args, '--data', 'd'], {}, 'x');
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('is missing.') });
  }
});

test('folder 0700, files 0600, health without a token, 0 after SIGTERM, and a log that holds neither tokens nor queries nor names', async () => {
  const served = await started('--data', 'd', '--import', 'fixture.ndjson', '--log-level', 'debug');
  expect((await stat(join(place.path, 'd'))).mode & 0o777).toBe(OWNER_ONLY.folder);
  for (const entry of await readdir(join(place.path, 'd'), { withFileTypes: true })) {
    const { mode } = await stat(join(place.path, 'd', entry.name));
    expect({ name: entry.name, mode: mode & 0o777 }).toEqual({
      name: entry.name,
      mode: entry.isDirectory() ? OWNER_ONLY.folder : OWNER_ONLY.file,
    });
  }
  await molarIn(place.path, ['patients', 'list', '--last-name', 'Smith'], connection(served.url));
  await molarIn(place.path, ['patients', 'get', String(PATIENT)], connection(served.url, 'guessed-token'));
  for (const path of ['healthz', 'readyz']) expect((await fetch(`${served.url}/${path}`)).status).toBe(200);
  expect(await served.stop('SIGTERM')).toBe(0);
  const logged = await served.errors;
  expect(logged).toContain('/api/v1/patients');
  // Only a server that cannot crop images has something to note about them.
  expect(logged).not.toContain('sharp');
  for (const secret of ['acceptance-token', 'guessed-token', 'Smith', 'lastName', String(PATIENT)]) {
    expect(logged).not.toContain(secret);
  }
});

const other = otherUser();

test('a demo practice is served with the connection in a file for its owner, whoever has put one there', async () => {
  const file = join(place.path, 'd', 'demo.env');
  const theirs = other === undefined ? undefined : await plant(file, other);
  // A practice that is there already is served as it is; demo.test.ts has one made, which takes seconds.
  const fixture = await readFile(join(place.path, 'fixture.ndjson'), 'utf8');
  await writeFile(join(place.path, 'demo.ndjson'), fixture.replaceAll(ORGANIZATION, DEMO_ORGANIZATION_ID));
  const { url } = await started('--data', 'd', '--import', 'demo.ndjson', '--demo', 'small');
  const made = await stat(file);
  expect([made.ino === theirs?.ino, made.mode & 0o777]).toEqual([false, OWNER_ONLY.file]);
  if (theirs !== undefined) expect(made.uid).toBe(process.getuid?.());
  const text = await readFile(file, 'utf8');
  const env = Object.fromEntries(
    [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>;
  expect(env.MOLAR_URL).toBe(url);
  expect((await molarIn(place.path, ['patients', 'count'], env)).stdout).toBe('5\n');
  if (theirs === undefined) return;
  const planted = { ...env, MOLAR_TOKEN: 'a-token-of-another-user' };
  expect((await molarIn(place.path, ['patients', 'count'], planted)).code).toBe(3);
});

/** Puts a file with a token there, of another user and open to all. */
async function plant(file: string, owner: number) {
  await mkdir(join(place.path, 'd'));
  await writeFile(file, "export MOLAR_TOKEN='a-token-of-another-user'\n");
  await chmod(file, 0o666);
  await chown(file, owner, owner);
  return stat(file);
}
