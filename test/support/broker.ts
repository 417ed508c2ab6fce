import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { freePorts } from './services.ts';

/** A RabbitMQ of a test's own, which it may kill: nobody else is connected to it. */
export interface TestBroker {
  readonly url: string;
  /** Ends it in order and starts it again: what has been declared is on disk, which it writes seconds later otherwise. */
  settle(): Promise<void>;
  /** Ends it as a failing machine would, and starts it again on what it had on disk. */
  restart(whileDown?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Debian's own script, which runs as whoever calls it; the one on the path may want to be root. */
const PROGRAMS = ['/usr/lib/rabbitmq/bin/rabbitmq-server', '/usr/local/sbin/rabbitmq-server'];

const WITHOUT = 'needs RabbitMQ: install rabbitmq-server, or name its program in MOLAR_TEST_RABBITMQ';

/** A test with a broker of its own: without RabbitMQ it fails where all checks must run (CI=true), and is told as skipped elsewhere. */
export function brokerTest(name: string, milliseconds: number, run: (broker: TestBroker) => Promise<void>): void {
  it(name, { timeout: milliseconds }, async (context) => {
    const program = [process.env.MOLAR_TEST_RABBITMQ ?? '', ...PROGRAMS].find(
      (path) => path !== '' && existsSync(path),
    );
    if (program === undefined) {
      if (process.env.CI === 'true') throw new Error(`This test ${WITHOUT}.`);
      return context.skip(WITHOUT);
    }
    const broker = await startBroker(program);
    try {
      await run(broker);
    } finally {
      await broker.stop();
    }
  });
}

/** Starts a broker on a free port of the loopback. */
async function startBroker(program: string): Promise<TestBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'molar-broker-'));
  const [port = 0, distribution = 0] = await freePorts(2);
  const env = {
    ...process.env,
    HOME: folder,
    RABBITMQ_NODENAME: `molar${port}@localhost`,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: join(folder, 'db'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: join(folder, 'none'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    // One thread for its work: each more takes time to start, and then waits busily for something to do.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1',
  };
  // A group of its own: the script starts other programs, and all of them are to end.
  const start = () => spawn(program, [], { env, detached: true, stdio: 'ignore' });
  let running = start();
  await listening(port, running);
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    async settle() {
      await end(running, 'SIGTERM');
      running = start();
      await listening(port, running);
    },
    async restart(whileDown) {
      await end(running);
      await whileDown?.();
      running = start();
      await listening(port, running);
    },
    async stop() {
      await end(running);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function end(broker: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const ended = new Promise((resolve) => broker.once('exit', resolve));
  if (broker.pid !== undefined && broker.exitCode === null) {
    process.kill(-broker.pid, signal);
    await ended;
  }
}

const PATIENCE_MS = 300_000;

async function listening(port: number, broker: ChildProcess): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    if (broker.exitCode !== null) throw new Error(`RabbitMQ ended with ${broker.exitCode}.`);
    if (await accepts(port)) return;
  }
  await end(broker);
  throw new Error('RabbitMQ did not start in time.');
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
