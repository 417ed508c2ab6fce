import { describe, expect, it, vi } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { type FollowOptions, follow } from '../../../src/core/stream/follow.ts';
import type { StreamSource } from '../../../src/core/stream/source.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { endlessClock, SleepLog } from '../transport/script.ts';
import { lost, messageOf, readItem, ScriptedSource } from './messages.ts';

const opened = { kind: 'opened', position: '40' } as const;
const end = localFailure('response.malformed', 'The end.');

function following(more: Partial<Omit<FollowOptions, 'clock'>> = {}) {
  const clock = new SleepLog();
  const signal = new AbortController().signal;
  return { clock, random: () => 1, policy: DEFAULT_RETRY, maxRetries: undefined, signal, ...more };
}

async function run(source: StreamSource, options: FollowOptions) {
  const ids: (number | string)[] = [];
  const thrown = await (async () => {
    for await (const item of follow(source, options)) ids.push(item.kind === 'message' ? item.message.id : item.kind);
  })().catch((cause: unknown) => cause);
  return { ids, thrown };
}

describe('follow', () => {
  it('connects again for ever, with pauses that grow to 20 s', async () => {
    const script = Array.from({ length: 9 }, (_, at) => (at % 2 === 0 ? [lost()] : [opened]));
    const source = new ScriptedSource(...script, [end]);
    const options = following();
    const { thrown } = await run(source, options);
    expect(thrown).toBe(end);
    expect(options.clock.sleeps).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000, 20_000]);
  });

  it('begins with a short pause after each connection that brought something', async () => {
    const seen = { kind: 'seen', position: '41' } as const;
    const source = new ScriptedSource(
      [lost()],
      [lost()],
      [opened, seen, lost()],
      [opened, readItem(messageOf(42))],
      [end],
    );
    const options = following();
    const { ids } = await run(source, options);
    expect(ids).toEqual(['opened', 'seen', 'opened', 42]);
    expect(options.clock.sleeps).toEqual([500, 1000, 500, 500]);
  });

  it('waits as long as the other side asks', async () => {
    const options = following();
    await run(new ScriptedSource([lost('Busy.', 30_000)], [end]), options);
    expect(options.clock.sleeps).toEqual([30_000]);
  });

  it('tells each loss', async () => {
    const notices: unknown[] = [];
    await run(new ScriptedSource([lost('It broke.')], [opened], [end]), following({ onLost: (n) => notices.push(n) }));
    expect(notices).toEqual([
      { reason: 'It broke.', wait: 500, failed: 1 },
      { reason: 'The other side closed the connection.', wait: 1000, failed: 2 },
    ]);
  });

  it('gives up after as many retries in a row as it is told', async () => {
    const source = new ScriptedSource(
      [lost('one')],
      [opened, readItem(messageOf(41)), lost('two')],
      [lost('three')],
      [lost('four')],
    );
    const { thrown } = await run(source, following({ maxRetries: 2 }));
    expect(thrown).toMatchObject({ name: 'Failure', message: 'four' });
    expect(source.connections).toBe(4);
  });

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController();
    const source = new ScriptedSource([lost()]);
    const options = following({ signal: stop.signal, onLost: () => stop.abort(end) });
    expect((await run(source, options)).thrown).toBe(end);
    expect((await run(new ScriptedSource(), options)).thrown).toBe(end);
  });

  it('tells no loss of a connection that the signal has ended', async () => {
    const stop = new AbortController();
    const onLost = vi.fn();
    const connect = async function* () {
      yield opened;
      stop.abort(end);
      throw lost();
    };
    const options = following({ signal: stop.signal, maxRetries: 0, onLost });
    expect((await run({ connect }, options)).thrown).toBe(end);
    expect(onLost).not.toHaveBeenCalled();
  });

  it('ends at once when the signal aborts while it waits', async () => {
    const stop = new AbortController();
    const options = following({ signal: stop.signal, onLost: () => setImmediate(() => stop.abort(end)) });
    expect((await run(new ScriptedSource([lost()]), { ...options, clock: endlessClock })).thrown).toBe(end);
  });
});
