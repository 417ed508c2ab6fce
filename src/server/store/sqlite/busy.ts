import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from './open.ts';

/** How long a write waits for another process, such as an import. */
const LIMIT_MS = 50_000;

/** Takes the write lock with `begin`, again and again while another process holds it. */
export async function takeLock(begin: () => unknown): Promise<void> {
  const until = Date.now() + LIMIT_MS;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    try {
      await begin();
      return;
    } catch (error) {
      if (!isBusy(error) || Date.now() > until) throw error;
      await sleep(pause);
    }
  }
}
