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

/** Waits for what is under way, however long the machine takes for it; no time passes meanwhile. */
export async function reached(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns === 20_000) throw new Error('It does not happen.');
    await turn();
  }
}

export async function stop(relay: Relay): Promise<void> {
  const stopped = relay.stop();
  await pass(10_000);
  await stopped;
}
