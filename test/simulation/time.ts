import { vi } from 'vitest';

/** Timers and clocks that run on virtual time; what only gives way to other work does so for real. */
const VIRTUAL = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

const nextTurn = setImmediate;

/** Turns of the event loop in which nothing is under way, after which everybody waits for time to pass. */
const QUIET_TURNS = 4;

/**
 * Milliseconds between two looks at what other processes may have done: there are none, and to look every second, as a
 * server does, would be most of the work of its day.
 */
const LOOK_MS = 60_000;

/** Has the whole process live on virtual time, from `start` in UTC milliseconds, until `stopVirtualTime`. */
export function startVirtualTime(start: number): void {
  vi.useFakeTimers({ now: start, toFake: [...VIRTUAL] });
  const { setInterval: repeat } = globalThis;
  globalThis.setInterval = ((work: () => void, milliseconds: number) =>
    repeat(work, Math.max(milliseconds, LOOK_MS))) as typeof setInterval;
}

export function stopVirtualTime(): void {
  vi.useRealTimers();
}

/** Lets virtual time pass until the work has ended: from timer to timer, each once all that the last one set off is done. */
export async function live<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined);
  for (;;) {
    await quiet();
    if (isDone) return ended;
    if (vi.getTimerCount() > 0) vi.advanceTimersToNextTimer();
  }
}

async function quiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns = isAtWork() ? 0 : turns + 1)
    await new Promise<void>((resolve) => nextTurn(() => resolve()));
}

/** Whether the system is asked for something, such as a sync of a file, or a module is being loaded. */
function isAtWork(): boolean {
  return loading.size > 0 || process.getActiveResourcesInfo().some((name) => name.includes('Req'));
}

/** Modules that vitest is asked for; it tells of them only so. */
const loading = (globalThis as unknown as { __vitest_worker__: { resolvingModules: Set<string> } }).__vitest_worker__
  .resolvingModules;
