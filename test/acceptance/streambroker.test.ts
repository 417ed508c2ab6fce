import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { testBroker } from '../support/services.ts';
import { connection, molar, type Served, serve, workplace, writeFixture } from './molar.ts';
import { endListeners, listener, nameIn, namesOf, rename, until } from './streaming.ts';

const broker = await testBroker();
const exchange = `molar-test-${randomUUID()}`;
const name = `test-${randomUUID()}`;

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let address: string;

beforeAll(async () => {
  if (broker === undefined) return;
  place = await workplace();
  await writeFixture(place.path, 3);
  address = `${broker}?exchange=${exchange}`;
  served = await serve(place.path, [
    '--data',
    './d',
    '--import',
    'fixture.ndjson',
    '--rate-limit',
    '0',
    '--amqp',
    address,
  ]);
});

beforeEach(({ skip }) => {
  if (broker === undefined) skip('no broker answers');
});

afterEach(endListeners);

afterAll(async () => {
  if (broker === undefined) return;
  await served.stop();
  const model = await connect(broker);
  const channel = await model.createChannel();
  await channel.deleteQueue(`molar.${name}`);
  await channel.deleteExchange(exchange);
  await model.close();
  await place.remove();
});

test('a named listener hears from the broker what the server relays, across a kill', async () => {
  const names = namesOf('relayed', 40);
  const args = ['--amqp', address, '--name', name, '--key', '*.*.PatientV1.UPDATE', '--verbose'];
  const env = { MOLAR_CONFIG_DIR: join(place.path, 'config') };
  // The first one makes the queue, which holds everything from then on; when it does so it tells nobody.
  const first = listener(place.path, [...args, '--limit', '1'], env);
  await until('the first message', async () => {
    await rename(served.url, `opening${Math.random()}`);
    return first.child.exitCode !== null;
  });
  expect(await first.ended).toBe(0);
  for (const each of names.slice(0, 20)) await rename(served.url, each);
  const heard = listener(place.path, args, env);
  await until('some messages', () => heard.lines.some((line) => nameIn(line) === 'relayed5'));
  heard.child.kill('SIGKILL');
  await heard.ended;
  for (const each of names.slice(20)) await rename(served.url, each);
  const rest = listener(place.path, args, env);
  await until('the last message', () => rest.lines.some((line) => nameIn(line) === 'relayed39'));
  rest.child.kill('SIGINT');
  expect(await rest.ended).toBe(130);
  const all = [...heard.lines, ...rest.lines].map(nameIn).filter((each) => each.startsWith('relayed'));
  expect([...new Set(all)]).toEqual(names);
  expect(heard.errors() + rest.errors()).toBe('');
});

test('the password of a broker is never printed', async () => {
  const wrong = new URL(address);
  wrong.username = 'reader';
  const env = { ...connection(served.url), MOLAR_AMQP_PASSWORD: 'hidden-one' };
  for (const password of ['', 'hidden-two']) {
    wrong.password = password;
    const { code, stdout, stderr } = await molar(
      place.path,
      ['stream', 'listen', '--amqp', wrong.href, '--verbose'],
      env,
    );
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('rejected user and password');
    expect(stderr).not.toContain('hidden');
  }
});
