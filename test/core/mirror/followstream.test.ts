import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/catalog/failures.ts';
import { Failure } from '../../../src/core/failure.ts';
import { type FollowEvent, followMirror } from '../../../src/core/mirror/sync/follow.ts';
import type { Stream } from '../../../src/core/mirror/sync/listening.ts';
import type { SyncOutcome } from '../../../src/core/mirror/sync/syncrun.ts';
import { findTable, type MirrorTable } from '../../../src/core/mirror/tables.ts';
import type { StreamItem } from '../../../src/core/stream/source.ts';
import type { Backoff } from '../../../src/core/transport/retry.ts';
import { itemsOf, messageOf, readItem } from '../stream/messages.ts';

const table = findTable('patients') as MirrorTable;

function outcomeAt(position: string, unavailable: string | null = null): SyncOutcome {
  const counts = { rows: 1, added: 0, changed: 0, deleted: 0 };
  const resource = { table, ...counts, complete: unavailable === null, unavailable, failure: null };
  return { resources: [resource], position, asOf: '2026-01-05T15:00:00.000Z' };
}

const away = () => new Failure('Nobody answers.', { code: 'network.unreachable', exitCode: EXIT.network });
const refused = () => new Failure('The credentials are refused.', { code: 'http.401', exitCode: EXIT.auth });

/**
 * Follows over these connections, each sync with the next of these outcomes, until there is none left. What happened:
 * events, syncs (`all`, or `more` for an increment) and what stays as it is.
 */
async function follow(
  connections: readonly (readonly StreamItem[])[],
  outcomes: readonly (SyncOutcome | Failure)[],
  first = outcomeAt('0a1b2c3d-40'),
) {
  const ended = new AbortController();
  const reason = new Error('nothing is left');
  const happened: string[] = [];
  const [items, results] = [[...connections], [...outcomes]];
  const next = <T>(from: T[]): T => {
    const found = from.shift();
    if (found !== undefined) return found;
    ended.abort(reason);
    throw reason;
  };
  const following = {
    stream: { connect: () => itemsOf(...next(items)) } as unknown as Stream,
    sync: async (isIncrement: boolean) => {
      const result = next(results);
      happened.push(isIncrement ? 'more' : 'all');
      if (result instanceof Failure) throw result;
      return result;
    },
    onEvent: async ({ event }: FollowEvent) => void happened.push(event),
    onStale: async (_: MirrorTable, why: string) => void happened.push(why),
    clock: { now: () => 0, sleep: async () => {} },
    ...{
      interval: 1000,
      random: () => 1,
      policy: { base: 1, ceiling: 1, longestWait: 1 } as Backoff,
      signal: ended.signal,
    },
  };
  const failure: unknown = await followMirror(following, first).catch((cause: unknown) => cause);
  return { happened, failure: failure === reason ? undefined : failure };
}

const opened: StreamItem = { kind: 'opened', position: '0a1b2c3d-40' };

describe('a mirror that is followed', () => {
  it('is synced by what is newer alone', async () => {
    const items = [40, 41].map((id) => readItem(messageOf(id)));
    expect(await follow([[opened, ...items]], [outcomeAt('0a1b2c3d-41')])).toEqual({
      ...{ happened: ['synced', 'more', 'disconnected'], failure: undefined },
    });
  });

  it('tells once that nobody answers, however often it tries again', async () => {
    const { happened, failure } = await follow(
      [[opened, readItem(messageOf(41))]],
      [away(), away(), outcomeAt('0a1b2c3d-41')],
    );
    expect(failure).toBeUndefined();
    expect(happened).toEqual(['synced', 'more', 'disconnected', 'all', 'all', 'connected']);
  });

  it('ends where no other attempt may succeed', async () => {
    const failure = refused();
    const item = readItem(messageOf(41));
    expect(await follow([[opened, item]], [failure])).toEqual({ happened: ['synced', 'more'], failure });
  });

  it('says of what was not given at the beginning only when it is lost again', async () => {
    const items = [41, 42, 43].map((id) => readItem(messageOf(id)));
    const outcomes = [
      outcomeAt('0a1b2c3d-41', 'Not allowed.'),
      outcomeAt('0a1b2c3d-42'),
      outcomeAt('0a1b2c3d-43', 'Not allowed.'),
    ];
    const first = outcomeAt('0a1b2c3d-40', 'Not allowed.');
    const { happened } = await follow([[opened, ...items]], outcomes, first);
    expect(happened).toEqual(['synced', 'more', 'more', 'more', 'Not allowed.', 'disconnected']);
  });
});
