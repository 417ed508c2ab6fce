import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, it } from 'vitest';
import { openClient } from '../../src/server/files/s3/client.ts';

/**
 * An S3-compatible server of a test's own: OpenStack Swift with its S3 interface, which Debian offers as
 * `python3-swift` (6 MB, no service is started by it) and clouds run in earnest. It checks signatures and the hash of
 * every body, knows multipart uploads from beginning to abort, ranges and paged listings, and stores an object whole
 * or not at all. `s3server.py` puts its four servers into one process, with the objects in memory: it starts in a
 * second. Of the others, s3rver from the npm registry takes a half-sent object for a whole one, cannot abort an upload
 * and finds the signatures of today's SDK wrong on listings; radosgw needs a Ceph cluster; Debian has no MinIO.
 */
export interface S3Server {
  /** A bucket that is there. */
  readonly bucket: string;
  /** Environment of a process that may use it; the test's own process has it already. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests so far: `PUT bucket/key`, `POST bucket/key?uploads`. */
  readonly requests: string[];
  readonly client: S3Client;
  /** Lets `fault` have each request first: it may answer or cut it, and returns true then. */
  failing(fault?: Fault): void;
  /** Closes its port, open connections with it. */
  away(): Promise<void>;
  back(): Promise<void>;
  stop(): Promise<void>;
}

export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

const BUCKET = 'documents';

/** Debian's Python: others do not see its packages. */
const PYTHON = process.env.MOLAR_TEST_SWIFT_PYTHON ?? '/usr/bin/python3';

const PROGRAM = join(import.meta.dirname, 's3server.py');

/** Finding it takes a quarter of the time of loading it. */
const FINDS_SWIFT = 'import importlib.util as u; exit(u.find_spec("swift.obj.mem_server") is None)';
const WITHOUT = 'needs Swift: install python3-swift, or name a Python that has it in MOLAR_TEST_SWIFT_PYTHON';

/** Tests with a server of their own: without Swift they fail where all checks must run (CI=true), and are told as skipped elsewhere. */
export async function describeS3(name: string, tests: (s3: S3Server) => void): Promise<void> {
  const s3 = await startS3();
  describe(name, () => {
    if (s3 === undefined) {
      it('is tested with a real server', (context) => context.skip(WITHOUT));
      return;
    }
    afterAll(s3.stop);
    tests(s3);
  });
}

/** Starts a server with an empty bucket on a free port of the loopback; undefined without Swift, an error in CI. */
async function startS3(): Promise<S3Server | undefined> {
  if (!hasSwift()) {
    if (process.env.CI === 'true') throw new Error(`This test ${WITHOUT}.`);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'molar-s3-'));
  const swift = spawn(PYTHON, [PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const behind = await portOf(swift);
  const requests: string[] = [];
  let fault: Fault | undefined;

  const answer = (asked: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams: query } = new URL(asked.url ?? '', 'http://s3');
    const step = ['uploads', 'partNumber', 'uploadId', 'list-type'].find((name) => query.has(name));
    requests.push(`${asked.method} ${pathname.slice(1)}${step === undefined ? '' : `?${step}`}`);
    if (!fault?.(asked, response)) forward(asked, response, behind);
  };
  let front = await listen(answer, 0);
  const { port } = front.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const env = {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test:tester',
    AWS_SECRET_ACCESS_KEY: 'testing',
    AWS_SESSION_TOKEN: '',
  };
  Object.assign(process.env, env);
  const client = await openClient(env);
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  requests.length = 0;
  const away = async () => {
    if (front.listening) await close(front);
  };
  return {
    bucket: BUCKET,
    env,
    requests,
    client,
    failing(next) {
      fault = next;
    },
    away,
    async back() {
      front = await listen(answer, port);
    },
    async stop() {
      client.destroy();
      await away();
      await end(swift);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function hasSwift(): boolean {
  try {
    execFileSync(PYTHON, ['-c', FINDS_SWIFT], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function portOf(swift: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    swift.stdout?.once('data', (line) => resolve(Number(String(line))));
    swift.once('error', reject).once('exit', (code) => reject(new Error(`Swift ended with ${code}.`)));
  });
}

async function end(swift: ChildProcess): Promise<void> {
  if (swift.exitCode !== null) return;
  const ended = new Promise((resolve) => swift.once('exit', resolve));
  // It ends with its input, also when the test process was killed.
  swift.stdin?.end();
  await ended;
}

/** Passes a request on with its headers, the signed Host among them. */
function forward(asked: IncomingMessage, response: ServerResponse, port: number): void {
  const { method = 'GET', url = '/', headers } = asked;
  const passed = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  // After an answer it is none: Swift ends that to a HEAD of nothing with a stray line.
  passed.on('error', () => response.headersSent || response.destroy());
  response.once('close', () => passed.destroy());
  asked.pipe(passed);
}

async function listen(answer: (asked: IncomingMessage, response: ServerResponse) => void, port: number) {
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return server;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
