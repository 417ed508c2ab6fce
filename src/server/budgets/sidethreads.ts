import { readdirSync, readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { basename } from 'node:path';

/** How much less urgent other threads are than the one that answers: of one core it has nine tenths then. */
const STEPS = 10;

/**
 * Makes the threads that exist beside the calling one less urgent than it: on a machine of one core, images would
 * otherwise take two thirds of it. Only Linux has priorities of threads; elsewhere nothing is done.
 */
export function lowerSideThreads(): void {
  if (process.platform !== 'linux') return;
  try {
    const own = basename(readlinkSync('/proc/thread-self'));
    const lower = Math.min(constants.priority.PRIORITY_LOW, getPriority(Number(own)) + STEPS);
    for (const thread of readdirSync('/proc/self/task')) {
      if (thread !== own && thread !== String(process.pid)) setPriority(Number(thread), lower);
    }
  } catch {
    // A thread that has ended meanwhile, or a system without /proc: answers are late then, and nothing else is wrong.
  }
}
