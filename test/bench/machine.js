// What figures depend on beside molar: the machine, its disk, and what else runs on it.
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Cores that others may keep busy without spoiling the figures. */
const QUIET = 0.2;
const LISTENED_MILLISECONDS = 2000;

/** The lines that stand above figures; says so when the machine has other work. */
export async function machineText(folder) {
  const [first] = cpus();
  const megabytes = Math.round(totalmem() / 1_048_576).toLocaleString('en');
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${first?.model.trim()}, ${megabytes} MB of memory`;
  const sync = `a sync of the disk takes ${syncMilliseconds(folder).toFixed(2)} ms`;
  const before = machineSeconds();
  await sleep(LISTENED_MILLISECONDS);
  const busy = ((machineSeconds() - before) * 1000) / LISTENED_MILLISECONDS;
  const warning = busy > QUIET ? `\nOther work keeps ${busy.toFixed(1)} of the cores busy: speeds are too low.` : '';
  return `${machine}; ${sync}${warning}`;
}

/** Seconds of work that all cores together have done. */
export function machineSeconds() {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}

/** Seconds of processor time that a process and its threads have used, in hundredths; undefined where nobody tells. */
export function processSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    // In hundredths of a second: user and system time.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}

/**
 * Begins to count the processor time of a process; answers a function that gives the seconds since then, NaN where nobody
 * tells. Threads are counted in nanoseconds, since hundredths of a second are too coarse for short work. What a thread used
 * that ended in between is lost, which is next to nothing: a server ends only a thread that has been idle for a while.
 */
export function countSeconds(pid) {
  const threadsBefore = threadSeconds(pid);
  if (threadsBefore.size === 0) {
    // This kernel keeps no statistics of its scheduler.
    const before = processSeconds(pid);
    return () => processSeconds(pid) - before;
  }
  return () => {
    let sum = 0;
    for (const [thread, seconds] of threadSeconds(pid)) sum += seconds - (threadsBefore.get(thread) ?? 0);
    return sum;
  };
}

/** Seconds of processor time that each thread of a process has used, by its id; empty where nobody tells. */
function threadSeconds(pid) {
  const found = new Map();
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const seconds = nanosecondsOf(`/proc/${pid}/task/${thread}/schedstat`) / 1e9;
      if (seconds > 0) found.set(thread, seconds);
    }
  } catch {
    // No such folder: the process is gone, or this is not Linux.
  }
  return found;
}

function nanosecondsOf(schedstat) {
  try {
    return Number(readFileSync(schedstat, 'utf8').split(' ')[0]);
  } catch {
    // No such file: the thread has just ended, or the kernel keeps none.
    return 0;
  }
}

/** Milliseconds that the disk of a folder takes to keep a block: the median of a hundred. A disk in memory takes none. */
function syncMilliseconds(folder) {
  const file = openSync(join(folder, 'sync'), 'w');
  const times = Array.from({ length: 100 }, () => {
    const began = performance.now();
    writeSync(file, Buffer.alloc(4096));
    fsyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return times.sort((a, b) => a - b)[50];
}
