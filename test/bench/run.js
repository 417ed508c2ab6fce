// Exports the patients of a synthetic practice through the real server and client, and reports speed and memory.
// `npm run bench` takes the large practice; `npm run bench -- small` is a quick look.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** Megabytes that each side may take at most, whatever the size of the practice. */
const LIMITS = { client: 150, server: 250 };
const SAMPLE_MILLISECONDS = 200;

const size = process.argv[2] ?? 'large';
const bin = resolve(import.meta.dirname, '../../bin/run.js');
const folder = mkdtempSync(join(tmpdir(), 'molar-bench-'));
const say = (text) => process.stdout.write(`${text}\n`);

/** Starts molar and watches how much memory it takes. */
function start(args, options) {
  const child = spawn(process.execPath, [bin, ...args], options);
  const watched = { child, megabytes: 0 };
  const timer = setInterval(() => {
    try {
      const kilobytes = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)], { encoding: 'utf8' }));
      watched.megabytes = Math.max(watched.megabytes, kilobytes / 1024);
    } catch {
      // The process is gone; its end is awaited elsewhere.
    }
  }, SAMPLE_MILLISECONDS);
  child.once('close', () => clearInterval(timer));
  return watched;
}

async function listening(child) {
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line).url;
  throw new Error('The server ended before it listened.');
}

/** MOLAR_URL, MOLAR_ORGANIZATION and MOLAR_TOKEN of the demo practice. */
function demoEnvironment() {
  const text = readFileSync(join(folder, 'data', 'demo.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^export (\w+)='([^']*)'$/gm)].map(([, name, value]) => [name, value]));
}

async function measure() {
  const began = performance.now();
  const serve = [
    'serve',
    '--port',
    '0',
    '--json',
    '--data',
    join(folder, 'data'),
    '--demo',
    size,
    '--log-level',
    'error',
  ];
  const server = start(serve, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await listening(server.child);
    say(
      `${size} practice ready after ${((performance.now() - began) / 1000).toFixed(1)} s, server at ${Math.round(server.megabytes)} MB`,
    );
    return await exportPatients(server);
  } finally {
    server.child.kill('SIGTERM');
    if (server.child.exitCode === null) await once(server.child, 'close');
  }
}

async function exportPatients(server) {
  server.megabytes = 0;
  const began = performance.now();
  const client = start(['patients', 'list', '--csv'], {
    env: { ...process.env, ...demoEnvironment() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let lines = 0;
  client.child.stdout.on('data', (chunk) => {
    for (const byte of chunk) if (byte === 10) lines++;
  });
  const [code] = await once(client.child, 'close');
  const seconds = (performance.now() - began) / 1000;
  say(`${lines - 1} patients in ${seconds.toFixed(1)} s: ${Math.round((lines - 1) / seconds)} a second`);
  const over = Object.entries({ client, server }).filter(([side, { megabytes }]) => {
    say(`${side}: ${Math.round(megabytes)} MB at most, ${LIMITS[side]} MB allowed`);
    return megabytes > LIMITS[side];
  });
  return code === 0 && over.length === 0;
}

try {
  process.exitCode = (await measure()) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
