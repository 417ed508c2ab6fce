import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The one token that the service knows. */
export const TOKEN = 'faithful-token';

/** Something in a request that the specification does not list. */
export interface Violation {
  readonly method: string;
  readonly path: string;
  readonly what: string;
}

/** Listens on a free port of the loopback interface; gives the origin. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function shut(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
