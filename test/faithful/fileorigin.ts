import { createServer, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FaultKind, Faults } from './faults.ts';
import { listen, shut, type Violation } from './origin.ts';
import { hashOf } from './random.ts';
import type { Practice } from './store.ts';

/** Where the contents of documents are downloaded: another origin, that knows no ranges, digests or tokens. */
export interface Files {
  readonly link: (guidName: string) => string;
  /** Answers on a connection that was made without a socket. */
  readonly accept: (connection: Duplex) => void;
  readonly close: () => Promise<void>;
}

/** What answers with a status and nothing else; every other fault cuts the connection. */
const STATUSES: Readonly<Partial<Record<FaultKind, number>>> = {
  html502: 502,
  empty504: 504,
  unavailable503: 503,
  error500: 500,
  limited429: 429,
  timeout408: 408,
};

/** Opens the origin of downloads. The token of the service must never come here. */
export async function openFiles(
  practice: Practice,
  faults: Faults,
  onViolation: (violation: Violation) => void,
): Promise<Files> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const leaked = ['authorization', 'organization-id'].find((name) => name in request.headers);
    if (leaked) onViolation({ method: request.method ?? '', path: pathname, what: `${leaked} sent to another origin` });
    const guidName = decodeURIComponent(pathname.slice(1));
    const bytes = practice.files.get(guidName);
    const signed = searchParams.get('signature') === signatureOf(guidName);
    const fault = faults(`GET ${pathname}`);
    response.statusCode = !signed ? 403 : bytes ? 200 : 404;
    response.setHeader('connection', 'close');
    if (fault && bytes) sendFileFault(response, fault.kind, bytes);
    else response.end(response.statusCode === 200 ? bytes : undefined);
  });
  const origin = await listen(server);
  return {
    link: (guidName) => `${origin}/${encodeURIComponent(guidName)}?signature=${signatureOf(guidName)}`,
    accept: (connection) => void server.emit('connection', connection),
    close: () => shut(server),
  };
}

function sendFileFault(response: ServerResponse, kind: FaultKind, bytes: Buffer): void {
  const status = STATUSES[kind];
  if (status !== undefined) {
    response.statusCode = status;
    response.end();
  } else if (kind === 'cutBeforeBytes') response.socket?.destroy();
  else {
    response.setHeader('content-length', bytes.length);
    response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
  }
}

function signatureOf(guidName: string): string {
  return hashOf(`signature ${guidName}`).toString(16);
}
