// json-server, what people take to have an API soon.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetched } from './fetched.js';
import { pinServer } from './pinned.js';
import { watch } from './processes.js';

const VERSION = '0.17.4';
const START_MILLISECONDS = 20_000;

/** Does the work with a json-server of the given tables, which gets its port and process; left out, and said so, where none can be fetched. */
export async function withJsonServer(folder, tables, report, work) {
  const path = fetched(folder, 'json-server', VERSION, report);
  if (path === undefined) return undefined;
  const file = join(folder, 'db.json');
  writeFileSync(file, JSON.stringify(tables));
  const port = await freePort();
  const program = join(path, 'lib/cli/bin.js');
  const { child } = watch(
    spawn(process.execPath, [program, '--quiet', '--host', '127.0.0.1', '--port', String(port), file], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  try {
    await answers(`http://127.0.0.1:${port}/patients?_limit=1`);
    pinServer(child.pid);
    return await work({ port, pid: child.pid });
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(address) {
  for (const until = Date.now() + START_MILLISECONDS; ; await sleep(100)) {
    const answer = await fetch(address).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > until) throw new Error(`Nobody answers at ${address}.`);
  }
}
