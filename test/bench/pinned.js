// Servers on one core of a machine and their load on the other, so that the rate of a server is what one core gives.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { LOAD_CORE, pin, SERVER_CORE } from './cores.js';
import { watch } from './processes.js';

export const pinServer = (pid) => pin(pid, SERVER_CORE);

/** Starts a script of this folder; answers the process and a function that awaits its next line of output. */
function startScript(name, args) {
  const script = resolve(import.meta.dirname, name);
  const { child } = watch(spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${name} ended.`);
    return value;
  };
  return { child, line };
}

async function end(child) {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
}

/** Does the work with a server of `ceilings.js`, which gets its port and process. */
export async function withCeiling(args, work) {
  const { child, line } = startScript('ceilings.js', args);
  try {
    const port = Number(await line());
    pinServer(child.pid);
    return await work({ port, pid: child.pid });
  } finally {
    await end(child);
  }
}

/**
 * Does the work with the load of `sockets.js` on named targets: the work gets a function that runs some of them for some
 * milliseconds at the same time, and answers what came of each; `awake` keeps the load from ever waiting.
 */
export async function withLoad(folder, targets, work) {
  const file = join(folder, `targets-${randomUUID()}.json`);
  writeFileSync(file, JSON.stringify(targets));
  const { child, line } = startScript('sockets.js', [file]);
  pin(child.pid, LOAD_CORE);
  try {
    return await work(async (names, milliseconds, { awake = false } = {}) => {
      child.stdin.write(`${JSON.stringify({ targets: names, milliseconds, awake })}\n`);
      return JSON.parse(await line());
    });
  } finally {
    await end(child);
  }
}
