import { vi } from 'vitest';
import type { Relay } from '../../../../src/server/stream/relay/relay.ts';

/** Time passes when a test says so; what is under way goes on. */
export function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

/** Lets time pass, and what is due then be done. */
export async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  await settled();
}

export async function settled(): Promise<void> {
  for (let n = 0; n < 40; n++) await turn();
}

const turn = () => new Promise((resolve) => void setImmediate(resolve));

/** Real milliseconds after which what has not happened is taken not to happen. */
const PATIENCE_MS = 60_000;

/** Waits for what is under way, however busy the machine is; no time of the tests passes meanwhile. */
export async function reached(holds: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > end) throw new Error('It does not happen.');
    await turn();
  }
}

export async function stop(relay: Relay): Promise<void> {
  const stopped = relay.stop();
  await pass(10_000);
  await stopped;
}
