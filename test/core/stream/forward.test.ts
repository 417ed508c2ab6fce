import { describe, expect, it } from 'vitest';
import { localFailure } from '../../../src/core/failure.ts';
import { type ForwardOptions, forwardMessage, NotAccepted } from '../../../src/core/stream/forward.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import { endlessClock, SleepLog } from '../transport/script.ts';

function handing(more: Partial<ForwardOptions> = {}) {
  const clock = new SleepLog();
  const notices: unknown[] = [];
  const options: ForwardOptions = {
    ...{ clock, random: () => 1, policy: DEFAULT_RETRY, maxRetries: undefined, signal: new AbortController().signal },
    onRetry: (notice) => notices.push(notice),
    failureOf: ({ message }, id, attempts) => localFailure('stream.receiver', `${message} ${id} ${attempts}`),
    ...more,
  };
  return { clock, notices, options };
}

/** Fails so many times, then takes. */
function failing(times: number, problem = () => new NotAccepted('No.')) {
  let left = times;
  return async () => {
    if (left-- > 0) throw problem();
  };
}

describe('forwardMessage', () => {
  it('offers a message until it is taken', async () => {
    const { clock, notices, options } = handing();
    await forwardMessage(41, failing(8), options);
    expect(clock.sleeps).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
    expect(notices[1]).toEqual({ messageId: 41, reason: 'No.', wait: 1000 });
  });

  it('waits as long as it is asked to, up to 5 minutes', async () => {
    const { clock, options } = handing();
    await forwardMessage(
      41,
      failing(1, () => new NotAccepted('Busy.', 9000)),
      options,
    );
    await forwardMessage(
      41,
      failing(1, () => new NotAccepted('Busy.', 9_000_000)),
      options,
    );
    expect(clock.sleeps).toEqual([9000, 300_000]);
  });

  it.each([
    [0, 1],
    [2, 3],
  ])('gives up after %i retries', async (maxRetries, attempts) => {
    const { options } = handing({ maxRetries });
    await forwardMessage(41, failing(maxRetries), options);
    await expect(forwardMessage(41, failing(maxRetries + 1), options)).rejects.toThrow(`No. 41 ${attempts}`);
  });

  it('passes on what is no refusal', async () => {
    const { options } = handing();
    await expect(
      forwardMessage(
        41,
        failing(1, () => new Error('odd') as NotAccepted),
        options,
      ),
    ).rejects.toThrow('odd');
  });

  it('ends with the reason of the signal', async () => {
    const stop = new AbortController();
    const { options } = handing({ signal: stop.signal, onRetry: () => stop.abort(new Error('stopped')) });
    await expect(forwardMessage(41, failing(1), options)).rejects.toThrow('stopped');
  });

  it('ends at once when the signal aborts while it waits', async () => {
    const stop = new AbortController();
    const onRetry = () => setImmediate(() => stop.abort(new Error('stopped')));
    const { options } = handing({ signal: stop.signal, onRetry, clock: endlessClock });
    await expect(forwardMessage(41, failing(1), options)).rejects.toThrow('stopped');
  });
});
