import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../core/clock.ts';
import { codeOf } from '../../core/failure.ts';
import type { LockOwner, ProcessLife } from '../../core/lockfile.ts';

/** This process as the holder of locks. */
export function lockOwner(clock: Clock): LockOwner {
  return { pid: process.pid, host: hostname(), clock, lifeOf };
}

/** Whether a process runs, and since when: on Linux of any process, elsewhere of this one, whose number may be reused. */
export function lifeOf(pid: number): ProcessLife {
  if (!exists(pid)) return { alive: false };
  const facts = linuxFacts(pid);
  if (facts !== undefined) return { alive: !'ZX'.includes(facts.state), started: facts.started };
  return pid === process.pid ? { alive: true, started: String(Math.round(performance.timeOrigin)) } : { alive: true };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return codeOf(cause) === 'EPERM';
  }
}

/** State and start of a process: fields 3 and 22 of its `stat`, after a name that may hold anything, and this boot. */
function linuxFacts(pid: number): { readonly state: string; readonly started: string } | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const [state = '', started] = [fields[0], fields[19]];
    return started === undefined ? undefined : { state, started: `${boot}:${started}` };
  } catch {
    return undefined;
  }
}
