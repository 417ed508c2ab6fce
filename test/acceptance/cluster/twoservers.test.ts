import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/postgres.ts';
import { testBroker, testPostgres } from '../../support/services.ts';
import { molarIn } from '../inprocess.ts';
import { PATIENT, workplace, writeFixture } from '../molar.ts';
import { type LastResponse, listen } from './reader.ts';
import { Cluster, whileKilling } from './servers.ts';
import { type Acknowledged, expectRecords, write } from './writers.ts';

const WRITERS = 8;
/** What writers do at least; they go on until servers were killed so often. */
const ROUNDS = 30;
const KILLS = 3;
const SERVERS = 2;

let place: Awaited<ReturnType<typeof workplace>>;
let database: TestDatabase | undefined;

beforeEach(async () => {
  place = await workplace();
  await writeFixture(place.path, WRITERS);
});

afterEach(async () => {
  await database?.drop();
  await place.remove();
});

/** Everything a queue gets that is bound to all of an exchange. */
async function consume(broker: string, exchange: string) {
  const model = await connect(broker);
  const channel = await model.createChannel();
  await channel.assertExchange(exchange, 'topic', { durable: true });
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, exchange, '#');
  const received: LastResponse[] = [];
  const take = (text: string) => received.push(JSON.parse(text) as LastResponse);
  await channel.consume(queue, (message) => take(message?.content.toString() ?? '{}'), { noAck: true });
  const close = async () => {
    await channel.deleteExchange(exchange);
    await model.close();
  };
  return { received, close };
}

test('two servers on one database, one of them killed again and again, lose and double nothing', {
  timeout: 900_000,
}, async (context) => {
  const [broker, postgres] = [await testBroker(), await testPostgres()];
  if (broker === undefined || postgres === undefined) return context.skip('needs PostgreSQL and a broker');
  database = await testDatabase();
  const exchange = `molar-test-${randomUUID()}`;
  const queue = await consume(broker, exchange);
  const store = ['--database', database.url, '--files', 'files'];
  await molarIn(place.path, ['server', 'import', 'fixture.ndjson', ...store]);
  const relay = ['--amqp', `${broker}?exchange=${exchange}`];
  const cluster = new Cluster(place.path, [...store, ...relay, '--rate-limit', '0', '--log-level', 'silent']);
  const quiet = new AbortController();
  try {
    await cluster.start(SERVERS);
    const heard: LastResponse[] = [];
    const listening = listen(cluster, quiet.signal, heard);
    let acknowledged: Acknowledged[] = [];
    const isEnough = (rounds: number) => rounds >= ROUNDS && cluster.killed >= KILLS;
    await whileKilling(cluster, 700, async () => {
      acknowledged = await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) => write(cluster, { writer, patient: PATIENT + writer, isEnough })),
      );
    });
    const rounds = acknowledged.reduce((sum, { made }) => sum + made.length, 0);
    expect(rounds).toBeGreaterThanOrEqual(WRITERS * ROUNDS);
    const total = WRITERS + 2 * rounds;
    while (new Set(queue.received.map(({ id }) => id)).size < total) await sleep(100);
    const last = Math.max(...queue.received.map(({ id }) => id));
    while ((heard.at(-1)?.id ?? 0) < last) await sleep(100);
    // A moment for what must not come.
    await sleep(500);
    quiet.abort();
    await listening;
    expectStream(heard, acknowledged);
    expectStream(firstOfEach(queue.received), acknowledged);
    await expectRecords(await cluster.url(0), place.path, acknowledged);
    await cluster.stop();
    const verified = await molarIn(place.path, ['server', 'audit', 'verify', '--json', ...store]);
    expect(verified, verified.stderr).toMatchObject({ code: 0 });
    const written = (await molarIn(place.path, ['server', 'audit', 'export', ...store])).stdout.trim().split('\n');
    const entries = written.map((line) => JSON.parse(line) as { operation: string; via?: string });
    // Whoever asks again with the same Idempotency-Key gets the stored response, which has an entry of its own.
    const made = entries.filter(({ operation, via }) => operation === 'transactiontags.create' && via !== 'replay');
    expect(made).toHaveLength(rounds);
  } finally {
    quiet.abort();
    await cluster.stop('SIGKILL');
    await queue.close();
  }
});

/** At least once: what is repeated after a takeover counts where it came first. */
function firstOfEach(messages: readonly LastResponse[]): LastResponse[] {
  return [...new Map(messages.toReversed().map((message) => [message.id, message])).values()].toReversed();
}

/** Every acknowledged write has one message, numbers have no gaps, and each record's changes stand in order. */
function expectStream(heard: readonly LastResponse[], acknowledged: readonly Acknowledged[]): void {
  expect(heard.map(({ id }) => id)).toEqual(heard.map((_, at) => at + 1));
  const texts = heard
    .filter(({ domainType }) => domainType === 'TransactionTagV1')
    .map(({ payload }) => payload.tagText);
  expect(texts.toSorted()).toEqual(acknowledged.flatMap(({ made }) => made.map(({ tagText }) => tagText)).toSorted());
  for (const { cities, made } of acknowledged) {
    for (const [patient, values] of cities) {
      const told = heard.filter(({ payload, operation }) => payload.id === patient && operation === 'UPDATE');
      expect(told.map(({ payload }) => payload.city)).toEqual(values);
    }
    const order = made.map(({ id }) =>
      heard.findIndex(({ payload, domainType }) => domainType === 'TransactionTagV1' && payload.id === id),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  }
}
