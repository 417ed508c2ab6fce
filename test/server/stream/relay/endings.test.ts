import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Broker } from '../../../../src/server/stream/relay/broker.ts';
import { type TestService, testService } from '../../../support/service.ts';
import { EVENTS, startRelay, stopRelays, TARGET } from './fakebroker.ts';
import { fakeTime, pass, reached, settled, stop } from './faketime.ts';

let service: TestService;
beforeEach(async () => {
  published = 0;
  service = await testService();
  fakeTime();
});
afterEach(async () => {
  vi.useRealTimers();
  await stopRelays();
  await service.close();
});

/** The end of a connection that does nothing but be cut. */
function gone(cut: AbortSignal): Promise<Error> {
  return new Promise((resolve) => cut.addEventListener('abort', () => resolve(new Error('cut'))));
}

/** What an idle broker was given. */
let published = 0;

/** A broker that does nothing on a connection. */
function idle(
  cut: AbortSignal,
  { isRoomy = true, close }: { isRoomy?: boolean; close?: Broker['close'] } = {},
): Broker {
  const broken = new AbortController();
  const left = gone(cut).then((error) => broken.abort(error));
  const publish = () => {
    published++;
    return isRoomy;
  };
  return { broken: broken.signal, publish, drained: () => left, close: close ?? (() => left) };
}

it.each<[string, number, (cut: AbortSignal) => Broker | Promise<Broker>]>([
  ['never answers when it is connected to', 0, (cut) => gone(cut).then((error) => Promise.reject(error))],
  ['confirms nothing', 2000, (cut) => idle(cut, { close: async () => {} })],
  ['confirms nothing, and never lets go', 3000, (cut) => idle(cut)],
  ['never has room for anything', 3000, (cut) => idle(cut, { isRoomy: false })],
])('a relay whose broker %s stops after %i ms', async (_name, milliseconds, answer) => {
  let opened = 0;
  const relay = await startRelay(service.service, TARGET, EVENTS, async (_target, cut) => {
    opened++;
    return answer(cut);
  });
  await reached(() => (milliseconds === 0 ? opened === 1 : published > 0));
  await settled();
  let over = false;
  const stopped = relay.stop().then(() => {
    over = true;
  });
  await pass(Math.max(0, milliseconds - 1));
  expect(over).toBe(milliseconds === 0);
  await pass(1);
  await stopped;
  expect(vi.getTimerCount()).toBe(0);
  // That it was cut off when it was to end is no failure.
  expect([relay.relayed, relay.failures, relay.connected, opened]).toEqual([0, 0, false, 1]);
});

it('a relay whose broker confirms the last message while it stops has stopped then', async () => {
  const unconfirmed: ((taken: boolean) => void)[] = [];
  const relay = await startRelay(service.service, TARGET, EVENTS, async (_target, cut) => ({
    ...idle(cut, { close: async () => {} }),
    publish: (_message, settled) => unconfirmed.push(settled) > 0,
  }));
  await reached(() => unconfirmed.length > 0);
  await settled();
  let over = false;
  const stopped = relay.stop().then(() => {
    over = true;
  });
  await settled();
  expect(over).toBe(false);
  for (const settle of unconfirmed) settle(true);
  await settled();
  expect([over, relay.relayed]).toEqual([true, unconfirmed.length]);
  await stopped;
});

it('a relay tells when it is connected and why it is not, closes what it opens, and names no address', async () => {
  const problems: unknown[] = [
    new Error(`no answer of amqp://user:secret@broker ${'x'.repeat(300)}`),
    Object.assign(new Error('amqp://user:secret@broker'), { code: 404 }),
    'amqp://user:secret@broker',
  ];
  const heard: string[] = [];
  const told = {
    connected: (target: string) => heard.push(`connected ${target}`),
    failed: (_target: string, reason: string) => heard.push(reason),
  };
  let closed = 0;
  const relay = await startRelay(service.service, TARGET, told, async (_target, cut) => {
    if (problems.length > 0) throw problems.shift();
    return idle(cut, { close: async () => void closed++ });
  });
  for (let count = 1; count <= 3; count++) {
    await reached(() => heard.length >= count);
    await settled();
    await pass(1000);
  }
  await reached(() => relay.connected);
  await stop(relay);
  expect(heard).toEqual([
    `no answer of its address ${'x'.repeat(300)}`.slice(0, 200),
    '404',
    'unknown',
    'connected broker:5672 /',
  ]);
  expect(closed).toBe(1);
});
