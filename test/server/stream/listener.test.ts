import { EventEmitter, getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findOrganization, type Organization } from '../../../src/server/organizations.ts';
import { ListenerSocket, serveListener } from '../../../src/server/stream/listener.ts';
import { EVENTS, framesOf } from '../../../src/server/stream/pages.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import { organizationRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { fakeTime, pass, reached, settled } from './relay/faketime.ts';
import { writeOwnMessages } from './writing.ts';

const HEARTBEAT = 1000;

let service: TestService;
let organization: Organization;
let stop: AbortController;
beforeEach(async () => {
  service = await testService(organizationRecords());
  organization = (await findOrganization(service.service.store.read, ORGANIZATION)) as Organization;
  stop = new AbortController();
  fakeTime();
});
afterEach(async () => {
  vi.useRealTimers();
  stop.abort();
  await service.close();
});

const write = (count: number, characters = 0) =>
  writeOwnMessages(service, count, JSON.stringify({ note: 'x'.repeat(characters) }));

/** A listener from the beginning, on a socket that has room, or none when `rooms` says so, one wait after another. */
async function listening({ rooms = [] as boolean[], check = async () => {}, matches = (): boolean => true } = {}) {
  const { stream } = service.service;
  const { epoch } = await stream.positionsOf(organization.org);
  const heard: string[] = [];
  const waits: number[] = [];
  let told = 0;
  const socket = {
    write: (content: string | Uint8Array) => heard.push(...(String(content).match(/^(id|: heartbeat).*-\d+$/gm) ?? [])),
    drained: async (milliseconds: number) => {
      waits.push(milliseconds);
      return rooms.shift() ?? true;
    },
  };
  const state = { heard, waits, told: () => told, end: undefined as unknown };
  void serveListener(
    {
      ...{ stream, organization, matches, format: EVENTS, check, now: () => 'now' },
      socket: socket as unknown as ListenerSocket,
      sent: ({ messages }) => {
        told += messages;
      },
      times: { heartbeatMs: HEARTBEAT, stallMs: 30_000, checkMs: 0 },
    },
    stop.signal,
    { epoch, after: 0 },
  ).then(
    () => {
      state.end = 'ended';
    },
    (cause: unknown) => {
      state.end = cause;
    },
  );
  await settled();
  return { ...state, state, at: (number: number) => `${epoch}-${number}` };
}

it('a heartbeat comes after silence, and not while there are messages', async () => {
  const { heard, at, told } = await listening();
  await pass(HEARTBEAT - 100);
  await write(1);
  await reached(() => heard.length === 1);
  await settled();
  await pass(HEARTBEAT - 1);
  await settled();
  expect(heard).toEqual([`id: ${at(1)}`]);
  await pass(1);
  await reached(() => heard.length === 2);
  expect(heard).toEqual([`id: ${at(1)}`, `: heartbeat ${at(1)}`]);
  await settled();
  await pass(HEARTBEAT);
  await reached(() => heard.length === 3);
  expect(told()).toBe(1);
});

it('nothing is sent any more, no heartbeat either, once the token does not allow it', async () => {
  let isRevoked = false;
  const { heard, state } = await listening({
    check: async () => {
      if (isRevoked) throw new Error('revoked');
    },
  });
  isRevoked = true;
  await pass(HEARTBEAT);
  await reached(() => state.end !== undefined);
  expect([heard, String(state.end)]).toEqual([[], 'Error: revoked']);
});

it('what was read while the token lost its rights is not sent', async () => {
  let isRevoked = false;
  const { stream } = service.service;
  const page = stream.page.bind(stream);
  vi.spyOn(stream, 'page').mockImplementation(async (...asked) => {
    isRevoked = true;
    await write(1);
    return page(...asked);
  });
  const { heard, state } = await listening({
    check: async () => {
      if (isRevoked) throw new Error('revoked');
    },
  });
  await reached(() => state.end !== undefined);
  expect([heard, String(state.end)]).toEqual([[], 'Error: revoked']);
});

it('what is committed after a page was read, which had nothing, comes at once', async () => {
  const { stream } = service.service;
  const page = stream.page.bind(stream);
  vi.spyOn(stream, 'page').mockImplementationOnce(async (...asked) => {
    const read = await page(...asked);
    await write(1);
    return read;
  });
  const { heard, at } = await listening();
  await reached(() => heard.length > 0);
  expect(heard).toEqual([`id: ${at(1)}`]);
});

it('what is left of a page is let go of and read again for a socket that has no room, and one that stalls is left', async () => {
  // Each is a frame of its own.
  await write(3, 70_000);
  const { heard, waits, at, state, told } = await listening({ rooms: [false, true, true, false, false] });
  await reached(() => state.end !== undefined);
  expect([state.end, heard]).toEqual(['ended', [1, 2, 3].map((number) => `id: ${at(number)}`)]);
  expect(waits).toEqual([250, 30_000, 250, 250, 30_000]);
  // What the audit log names is what was written, whether or not there was room afterwards.
  expect(told()).toBe(3);
});

it('what others are sent is silence, too', async () => {
  const { heard, at } = await listening({ matches: () => false });
  await pass(HEARTBEAT - 100);
  await write(1);
  await settled();
  await pass(99);
  expect(heard).toEqual([]);
  await pass(1);
  await reached(() => heard.length > 0);
  expect(heard).toEqual([`: heartbeat ${at(1)}`]);
});

it.each([
  ['to be sent', true],
  ['of what others are sent', false],
])('a long stretch %s leaves everybody a turn', async (_name, isSent) => {
  let others = 0;
  const turns: number[] = [];
  const step = () => {
    turns.push(others);
    setImmediate(() => others++);
  };
  // Pages that are there at once, as those that another listener has read, of two frames each.
  vi.spyOn(service.service.stream, 'page').mockImplementation(async (_reach, epoch, after) => {
    if (!isSent) step();
    const message = (number: number) => ({
      ...{ number, routingKey: 'o.1.PatientV1.READ', operation: 'READ', text: 'x'.repeat(70_000) },
      ...{ recordId: null, patientId: null },
    });
    const messages = after < 8 ? [after + 1, after + 2].map(message) : [];
    return { frames: framesOf(messages, EVENTS, epoch), positions: { epoch, newest: 8, floor: 0 } };
  });
  const matches = () => {
    if (isSent) step();
    return isSent;
  };
  const { told } = await listening({ matches });
  await reached(() => turns.length >= (isSent ? 8 : 5));
  expect([told(), turns]).toEqual([isSent ? 8 : 0, turns.map((_, at) => at)]);
});

it('a socket has room until it says otherwise, and again once it has sent all; a full one is cut off at its end', async () => {
  const ended: string[] = [];
  const state = { isRoomy: true };
  const response = Object.assign(new EventEmitter(), {
    write: () => state.isRoomy,
    end: (text: string) => ended.push(text),
    destroy: () => ended.push('destroyed'),
  });
  const socket = new ListenerSocket(response as unknown as ServerResponse);
  const { signal } = stop;
  expect([socket.write('a'), await socket.drained(1000, signal)]).toEqual([true, true]);
  socket.end('why');
  state.isRoomy = false;
  expect(socket.write('a')).toBe(false);
  const stalled = socket.drained(1000, signal);
  await pass(1000);
  expect(await stalled).toBe(false);
  socket.end('why');
  const roomy = socket.drained(1000, signal);
  response.emit('drain');
  expect(await roomy).toBe(true);
  expect([getEventListeners(signal, 'abort'), response.listenerCount('drain'), vi.getTimerCount()]).toEqual([[], 1, 0]);
  socket.write('a');
  const left = socket.drained(1000, signal);
  stop.abort();
  expect([await left, await socket.drained(1000, signal), vi.getTimerCount()]).toEqual([false, false, 0]);
  expect(ended).toEqual(['why', 'destroyed']);
});
