import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** s3rver declares no types. */
type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as new (
  options: Readonly<Record<string, unknown>>,
) => { callback(): Listener };

/**
 * An S3-compatible server of a test's own: s3rver, the one of the npm registry that projects test S3 with, in the fork
 * that is looked after (the parsers of the original are years behind). `npm ci` brings it, without a script of its own,
 * so every clone can run these tests. Debian offers radosgw and Swift, each a cluster to set up, and no MinIO. It
 * speaks the protocol over a socket, checks signatures and pages listings. What it lacks of S3 stands in front of it
 * here: an object is stored whole or not at all, a body must have the SHA-256 that was signed, and an unfinished upload
 * can be aborted.
 */
export interface S3Server {
  readonly endpoint: string;
  /** The bucket that is there. */
  readonly bucket: string;
  /** Environment of a process that may use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Requests so far: `PUT bucket/key`, `POST bucket/key?uploads`. */
  readonly requests: string[];
  /** Multipart uploads that are begun and neither completed nor aborted. */
  unfinished(): number;
  /** Lets `fault` have each request first: it may answer or cut it, and returns true then. */
  failing(fault?: Fault): void;
  /** Closes its port, open connections with it. */
  away(): Promise<void>;
  back(): Promise<void>;
  stop(): Promise<void>;
}

export type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

const BUCKET = 'documents';

/** s3rver's only key. */
const KEY = 'S3RVER';

/** Starts a server with an empty bucket, on a free port of the loopback. */
export async function startS3(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'molar-s3-'));
  await mkdir(join(directory, BUCKET));
  const behind = await listen(new S3rver({ directory, silent: true, vhostBuckets: false }).callback());
  const requests: string[] = [];
  let unfinished = 0;
  let fault: Fault | undefined;

  const answer: Listener = async (asked, response) => {
    const { pathname, searchParams: query } = new URL(asked.url ?? '', 'http://s3');
    const step = ['uploads', 'partNumber', 'uploadId'].find((name) => query.has(name));
    requests.push(`${asked.method} ${pathname.slice(1)}${step === undefined ? '' : `?${step}`}`);
    if (fault?.(asked, response)) return;
    const body = await buffer(asked).catch(() => undefined);
    if (body === undefined) return;
    const signed = String(asked.headers['x-amz-content-sha256']);
    if (asked.method === 'PUT' && signed !== createHash('sha256').update(body).digest('hex')) {
      return response.writeHead(400).end('<Error><Code>XAmzContentSHA256Mismatch</Code></Error>');
    }
    if (asked.method === 'POST' && step === 'uploads') unfinished += 1;
    if (step === 'uploadId') unfinished -= 1;
    if (asked.method === 'DELETE' && step === 'uploadId') return response.writeHead(204).end();
    forward(asked, body, portOf(behind), response);
  };

  let front = await listen(answer);
  const port = portOf(front);
  const endpoint = `http://127.0.0.1:${port}`;
  const away = async () => {
    if (front.listening) await close(front);
  };
  return {
    endpoint,
    bucket: BUCKET,
    env: { AWS_ENDPOINT_URL_S3: endpoint, AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY },
    requests,
    unfinished: () => unfinished,
    failing(next) {
      fault = next;
    },
    away,
    async back() {
      front = await listen(answer, port);
    },
    async stop() {
      await away();
      await close(behind);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function forward(asked: IncomingMessage, body: Buffer, port: number, response: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = asked;
  const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  passed.once('error', () => response.destroy());
  response.once('close', () => passed.destroy());
  passed.end(body);
}

async function listen(listener: Listener, port = 0): Promise<Server> {
  const server = createServer((asked, response) => void listener(asked, response));
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

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
