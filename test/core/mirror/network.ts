import { type Network, type NetworkOptions, openNetwork as openSockets } from '../../../src/core/transport/network.ts';
import type { IncomingResponse } from '../../../src/core/transport/send.ts';
import type { TestService } from '../../support/service.ts';

type Served = Pick<TestService, 'app' | 'clock'>;

/** Services of this process by where they listen. */
const served = new Map<string, Served>();

/** Has requests to this address asked of a service in this process, until it no longer listens. */
export function serveAt(url: string, service: Served): void {
  const { origin } = new URL(url);
  served.set(origin, service);
  service.app.server.once('close', () => served.delete(origin));
}

/**
 * A network to the services of this process without sockets, which take a third of the time of a short sync; but for
 * their streams, which have to be heard while they are sent. The clock of a service is told with each response. A first
 * sync of everything (describe.test.ts) and one that is killed (corrections.test.ts) use sockets with our server all the same.
 */
export function openNetwork(options: NetworkOptions = {}): Network {
  const network = openSockets(options);
  const send: Network['send'] = async (request) => {
    const { method, url, headers, body, signal } = request;
    const { origin, host, pathname, search } = new URL(url);
    const service = served.get(origin);
    if (service === undefined || pathname.endsWith('/stream') || (body !== undefined && typeof body !== 'string'))
      return network.send(request);
    signal?.throwIfAborted();
    const { 'accept-encoding': _, ...plain } = headers;
    const answer = await service.app.inject({
      ...{ method: method as 'GET', url: pathname + search, headers: { host, ...plain } },
      ...(body !== undefined && { payload: body }),
    });
    const told = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
    return {
      status: answer.statusCode,
      headers: { ...Object.fromEntries(told), date: new Date(service.clock.now()).toUTCString() },
      body: (async function* () {
        yield answer.rawPayload;
      })(),
    };
  };
  return { ...network, send };
}

type Other = IncomingResponse | string | undefined;

/** A network on which something may answer in place of the service: a response, or another address. */
export function answered(by: (url: string) => Other | Promise<Other>, open = openNetwork) {
  return (options: NetworkOptions): Network => {
    const network = open(options);
    const send: Network['send'] = async (request) => {
      const other = await by(request.url);
      return typeof other === 'object' ? other : network.send({ ...request, url: other ?? request.url });
    };
    return { ...network, send };
  };
}

/** A network on which something happens before a request now and then. */
export function disturbed(before: (url: string) => Promise<void>, open = openNetwork) {
  return answered(async (url) => {
    await before(url);
    return url;
  }, open);
}

/** A network to a service that has nothing at addresses with this text. */
export function without(part: string) {
  return answered((url) => url.replace(part, '/nothing'));
}
