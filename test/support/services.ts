import { connect, createServer } from 'node:net';

/** Where PostgreSQL is for tests: MOLAR_TEST_POSTGRES, else the usual one of this machine. */
export const TEST_POSTGRES = process.env.MOLAR_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * The broker that tests may use: MOLAR_TEST_AMQP, else the usual one of this machine. Undefined, and said so, where
 * none answers; in CI that is a failure.
 */
export async function testBroker(): Promise<string | undefined> {
  const address = process.env.MOLAR_TEST_AMQP ?? 'amqp://guest:guest@127.0.0.1:5672';
  const { hostname, port, host } = new URL(address);
  if (await answers(hostname, Number(port || 5672))) return address;
  if (process.env.CI === 'true') throw new Error(`No broker answers at ${host}; CI needs one.`);
  process.stderr.write(`Not tested: no broker answers at ${host}. Start RabbitMQ, or set MOLAR_TEST_AMQP.\n`);
  return undefined;
}

/** The PostgreSQL that tests may use. Undefined, and said so, where none answers; in CI that is a failure. */
export async function testPostgres(): Promise<string | undefined> {
  const { hostname, port, host } = new URL(TEST_POSTGRES);
  if (await answers(hostname, Number(port || 5432))) return TEST_POSTGRES;
  if (process.env.CI === 'true') throw new Error(`No PostgreSQL answers at ${host}; CI needs one.`);
  process.stderr.write(`Not tested: no PostgreSQL answers at ${host}. Start it, or set MOLAR_TEST_POSTGRES.\n`);
  return undefined;
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
    socket.setTimeout(5000, () => end(false));
  });
}

/**
 * A user other than the one who runs the tests, who can plant files. Undefined, and said so, where the tests may not
 * act as another user; in CI that is a failure.
 */
export function otherUser(): number | undefined {
  if (process.getuid?.() === 0) return 65_534;
  // Windows has no such numbers.
  if (process.platform === 'win32') return undefined;
  if (process.env.CI === 'true') throw new Error('Only root can plant files as another user; CI needs to be root.');
  process.stderr.write('Not tested: files that another user plants. Run the tests as root.\n');
  return undefined;
}

/** Ports that nobody uses now, for what has to be told its port before it starts. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
