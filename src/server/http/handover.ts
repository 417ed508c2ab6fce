import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { API_PREFIX, allOperations } from '../../catalog/catalog.ts';
import type { Operation } from '../../catalog/define.ts';
import { hasLinks } from './etag.ts';

/** Who answers what a process that only reads does not answer itself. */
export interface HandOver {
  /** Gives away a request of which nothing has been answered. */
  give(request: IncomingMessage, response: ServerResponse): void;
  /** Whether a request was given away. */
  has(request: IncomingMessage): boolean;
}

/** What reads records and nothing else. */
const READING: readonly Operation['shape'][] = ['list', 'count', 'get', 'calculated', 'sublist'];

const READS: ReadonlySet<string> = new Set(
  allOperations()
    .map(({ operation }) => operation)
    .filter((operation) => operation.method === 'GET' && READING.includes(operation.shape) && !hasLinks(operation))
    .map(({ path }) => API_PREFIX + path.replace(/\{\w+\}/g, '0')),
);

/** A record id in a path. */
const ID = /(?<=\/)\d+(?=\/|$)/;

/** Whether a request asks for records, has no body, and leads nowhere else whatever it turns out to be. */
function isRead({ method, url = '', headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
    return false;
  }
  const end = url.indexOf('?');
  return READS.has((end < 0 ? url : url.slice(0, end)).replace(ID, '0'));
}

/** Lets the app of a server answer reads of records, and gives all other requests away, before any of its hooks. */
export function handOverOthers(server: Server, handOver: HandOver): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (!isRead(request)) return handOver.give(request, response);
    for (const listener of listeners) listener.call(server, request, response);
  });
}
