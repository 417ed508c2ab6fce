import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, hasEnded, molar, READER, type Served, serve, workplace, writeFixture } from './molar.ts';
import { connected, endListeners, listener, nameIn, namesOf, oldestName, rename, until } from './streaming.ts';

const KEY = ['--key', '*.*.PatientV1.UPDATE'];

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 3);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson', '--rate-limit', '0']);
  env = { ...connection(served.url, READER), MOLAR_CONFIG_DIR: join(place.path, 'config') };
});

afterEach(async () => {
  endListeners();
  // The server has to see them go: `connected` of the next test would count them.
  await connected(served.url, 0);
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

test('a listener that is killed again and again misses nothing', async () => {
  const names = namesOf('kill', 120);
  const args = [...KEY, '--name', 'killed', '--format', 'ndjson'];
  const heard: string[] = [];
  let current = listener(place.path, args, env);
  await connected(served.url, 1);
  const writing = (async () => {
    for (const name of names) await rename(served.url, name);
  })();
  for (let round = 0; round < 3; round++) {
    // At whatever place it stands a moment after it heard something.
    await until('a message', () => current.lines.length > 0);
    await sleep(Math.random() * 200);
    current.child.kill('SIGKILL');
    await current.ended;
    heard.push(...current.lines);
    current = listener(place.path, args, env);
    if (round < 2) await rename(served.url, `round${round}`);
  }
  await writing;
  await rename(served.url, 'last');
  await until('the last message', () => current.lines.some((line) => nameIn(line) === 'last'));
  current.child.kill('SIGINT');
  expect(await current.ended).toBe(130);
  heard.push(...current.lines);
  const once = [...new Set(heard.map(nameIn))];
  expect(once.filter((name) => name.startsWith('kill'))).toEqual(names);
  expect(once.filter((name) => name.startsWith('round'))).toHaveLength(2);
  expect(once.at(-1)).toBe('last');
});

test('a name belongs to one listener at a time', async () => {
  const first = listener(place.path, [...KEY, '--name', 'single'], env);
  await connected(served.url, 1);
  const second = await molarIn(place.path, ['stream', 'listen', '--name', 'single'], env);
  expect(second).toMatchObject({ code: 9, stdout: '' });
  expect(second.stderr).toContain(`in use by process ${first.child.pid}`);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(143);
  expect(first.errors()).toBe('');
});

test('a listener goes on when the server comes back', async () => {
  const { port } = new URL(served.url);
  const heard = listener(place.path, [...KEY, '--limit', '2'], env);
  await connected(served.url, 1);
  await rename(served.url, 'before');
  await until('the first message', () => heard.lines.length === 1);
  await served.stop('SIGKILL');
  served = await serve(place.path, ['--data', './d', '--rate-limit', '0', '--port', port]);
  await rename(served.url, 'after');
  expect(await heard.ended).toBe(0);
  expect(heard.lines.map(nameIn)).toEqual(['before', 'after']);
  expect(heard.errors()).toMatch(/^Not connected: .*Next try in [\d.]+ s\.\n(?:Not connected: .*\n)*Reconnected\.\n$/);
});

test('a receiver that fails now and then gets every message, in order', async () => {
  const names = namesOf('hook', 30);
  const taken: string[] = [];
  const offered: Record<string, unknown>[] = [];
  const receiver: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      offered.push(request.headers);
      if (offered.length % 5 === 3) return request.socket.destroy();
      const fails = offered.length % 5 === 1;
      if (!fails) taken.push(nameIn(Buffer.concat(chunks).toString()));
      response.writeHead(fails ? 500 : 204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const args = [...KEY, '--name', 'hook', '--forward-to', `http://127.0.0.1:${port}/hook`];
  try {
    const first = listener(place.path, args, env);
    await connected(served.url, 1);
    for (const name of names) await rename(served.url, name);
    await until('some messages', () => taken.length >= 10);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = listener(place.path, args, env);
    await until('every message', () => taken.includes('hook29'));
    second.child.kill('SIGINT');
    expect(await second.ended).toBe(130);
    expect([...new Set(taken)]).toEqual(names);
    expect(taken.length).toBeLessThanOrEqual(names.length + 1);
    expect(JSON.stringify(offered)).not.toMatch(/authorization|reader|organization-id/i);
    expect(offered.every((headers) => /^\d+$/.test(String(headers['x-message-id'])))).toBe(true);
    expect(first.lines).toEqual([]);
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
});

test('a command that goes on failing ends the listener, and its message comes again', async () => {
  await rename(served.url, 'refused');
  const args = ['stream', 'listen', ...KEY, '--name', 'exec', '--from', 'beginning', '--limit', '1'];
  const failed = await molarIn(place.path, [...args, '--exec', 'exit 7', '--max-retries', '1'], env);
  expect(failed).toMatchObject({ code: 6, stdout: '' });
  expect(failed.stderr).toContain('was not accepted in 2 attempts: The command ended with exit code 7.');
  // Built: what the command prints goes past the process that runs it.
  const again = await molar(place.path, [...args, '--exec', 'cat'], env);
  expect(again.code).toBe(0);
  expect(nameIn(again.stdout)).toBe(await oldestName(served.url, KEY[1] as string));
});

test('a reader that goes away ends it quietly with 0', async () => {
  const { child, ended, errors } = listener(place.path, [...KEY, '--from', 'beginning'], env);
  child.stdout?.once('data', () => child.stdout?.destroy());
  // Only a write tells that nobody reads.
  const writing = (async () => {
    for (let at = 0; !hasEnded(child); at++) await rename(served.url, `gone${at}`);
  })();
  expect(await ended).toBe(0);
  await writing;
  expect(errors()).toBe('');
});

test('a token that is revoked ends it with 3', async () => {
  const data = ['--data', './d'];
  const made = await molarIn(place.path, [
    'server',
    'tokens',
    'create',
    '--for',
    env.MOLAR_ORGANIZATION ?? '',
    '--json',
    ...data,
  ]);
  const { token, id } = JSON.parse(made.stdout) as { token: string; id: number };
  const heard = listener(place.path, KEY, { ...env, MOLAR_TOKEN: token });
  await connected(served.url, 1);
  expect((await molarIn(place.path, ['server', 'tokens', 'revoke', String(id), ...data])).code).toBe(0);
  // The server looks at the token before it sends something.
  await until('the end', async () => {
    await rename(served.url, `revoked${heard.lines.length}`);
    return heard.child.exitCode !== null;
  });
  expect(await heard.ended).toBe(3);
  expect(heard.errors()).toContain('The server rejected the token');
});
