import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A proxy in front of several servers. */
export interface ReadyProxy {
  readonly url: string;
  /** Resolves when a server is in service, or is out of it. */
  until(target: string, state: 'in' | 'out'): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 100;

/**
 * A proxy as those in front of services are: connections to servers are kept, requests go to servers in turn, each is
 * sent once, and a server is out of service from its first /readyz that is not 200 to its next one that is.
 */
export async function readyProxy(targets: readonly string[]): Promise<ReadyProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const inService = new Set<string>();
  const stopping = new AbortController();
  let turn = 0;
  const watch = async (target: string) => {
    while (!stopping.signal.aborted) {
      const ready = await fetch(`${target}/readyz`, { headers: { connection: 'close' } }).then(
        async (response) => (await response.text()) !== '' && response.status === 200,
        () => false,
      );
      if (ready) inService.add(target);
      else inService.delete(target);
      await sleep(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const [target] = [...inService].slice(turn++ % Math.max(1, inService.size));
    const fail = (reason: string) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end(reason);
    };
    if (target === undefined) return fail('no server is in service');
    const { hostname, port } = new URL(target);
    const { connection: _, ...headers } = incoming.headers;
    const sent = request(
      { agent, hostname, port, method: incoming.method, path: incoming.url, headers },
      (answer: IncomingMessage) => {
        const { connection: __, 'keep-alive': ___, ...passed } = answer.headers;
        outgoing.writeHead(answer.statusCode ?? 502, passed);
        answer.on('error', (error) => fail(String(error))).pipe(outgoing);
      },
    );
    sent.on('error', (error) => fail(String(error)));
    incoming.pipe(sent);
  };
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const watching = targets.map(watch);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async until(target, state) {
      while (inService.has(target) !== (state === 'in')) await sleep(10);
    },
    async close() {
      stopping.abort();
      await Promise.all(watching);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
