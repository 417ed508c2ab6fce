import { describe, expect, it } from 'vitest';
import { type ListenOptions, listen } from '../../../src/core/stream/listen.ts';
import { PositionSaver } from '../../../src/core/stream/positions.ts';
import type { StreamItem } from '../../../src/core/stream/source.ts';
import { itemsOf, messageOf, readItem } from './messages.ts';

const opened: StreamItem = { kind: 'opened', position: '40' };
const seen: StreamItem = { kind: 'seen', position: '50' };

/** Listens to items and writes down what happens, in its order. */
async function log(items: (note: (id: number) => void) => StreamItem[], more: Partial<ListenOptions> = {}) {
  const lines: string[] = [];
  const positionSaver = new PositionSaver(async (position) => void lines.push(`save ${position}`), 0);
  const end = await listen(itemsOf(...items((id) => lines.push(`handled ${id}`))), {
    handlers: [
      async ({ id }) => void lines.push(`take ${id}`),
      async (_, text) => void lines.push(`print ${text.length > 2}`),
    ],
    positionSaver,
    isNew: false,
    limit: undefined,
    onOpened: () => lines.push('opened'),
    onResync: async ({ id }) => void lines.push(`resync ${id}`),
    ...more,
  }).catch((cause: Error) => cause.message);
  return { lines, end };
}

describe('listen', () => {
  it('moves the position behind a message once everybody has taken it', async () => {
    const { lines, end } = await log((handled) => [opened, readItem(messageOf(41), handled), seen]);
    expect(lines).toEqual(['opened', 'take 41', 'print true', 'handled 41', 'save 0a1b2c3d-41', 'save 50']);
    expect(end).toBe(1);
  });

  it('keeps where a new listener begins, once', async () => {
    const { lines } = await log(() => [opened, { kind: 'opened', position: '90' }], { isNew: true });
    expect(lines).toEqual(['save 40', 'opened', 'opened']);
  });

  it('leaves the position where it was when a message is not taken', async () => {
    const handlers = [() => Promise.reject(new Error('not taken'))];
    const { lines, end } = await log((handled) => [opened, readItem(messageOf(41), handled)], { handlers });
    expect(end).toBe('not taken');
    expect(lines).toEqual(['opened']);
  });

  it('ends behind the last message it is to hand on', async () => {
    const { lines, end } = await log((handled) => [41, 42, 43].map((id) => readItem(messageOf(id), handled)), {
      limit: 2,
      handlers: [],
    });
    expect(end).toBe(2);
    expect(lines).toEqual(['handled 41', 'save 0a1b2c3d-41', 'handled 42', 'save 0a1b2c3d-42']);
  });

  it('tells a resync, and hands it on', async () => {
    const resync = messageOf(30, { operation: 'resync' });
    const { lines } = await log((handled) => [readItem(resync, handled)]);
    expect(lines).toEqual(['resync 30', 'take 30', 'print true', 'handled 30', 'save 0a1b2c3d-30']);
  });

  it('keeps what is still to be saved when a heartbeat tells no position', async () => {
    const saved: string[] = [];
    const positionSaver = new PositionSaver(async (position) => void saved.push(position), 60_000);
    const silence: StreamItem = { kind: 'seen', position: undefined };
    await log((handled) => [readItem(messageOf(41), handled), silence], { positionSaver });
    await positionSaver.flush();
    expect(saved).toEqual(['0a1b2c3d-41']);
  });

  it('needs no position', async () => {
    expect(
      (await log(() => [opened, seen, readItem(messageOf(41))], { positionSaver: undefined, isNew: true })).end,
    ).toBe(1);
  });
});
