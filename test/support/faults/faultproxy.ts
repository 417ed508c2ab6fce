import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, playAnswer, refuse } from './badanswers.ts';
import { FaultPlan } from './faultplan.ts';

/** A proxy that listens in front of a service and lets go wrong what its plan says. */
export interface FaultProxy {
  /** The same as long as it is open: journals and idempotency keys of the client depend on it. */
  readonly url: string;
  /** Goes on with another plan; back at work first if it is down. `comeBack` ends a restart, after 30 ms by default. */
  follow(plan: FaultPlan, comeBack?: ComeBack): Promise<void>;
  /** Resolves when no request is under way to the service, not even one whose client has gone. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Is given what brings the proxy back after a restart. */
export type ComeBack = (start: () => Promise<void>) => void;

/**
 * Opens a proxy on a port of its own in front of `target` (`http://127.0.0.1:4010`). Until it follows a plan everything
 * passes. Requests and answers go over real sockets; the `Host` header stays, so that links in answers lead through
 * the proxy too. A service that is not there counts as a reset. `withoutKeys`: the service sees no Idempotency-Key, as
 * one that takes no notice of it, and tells no hashes of files either.
 */
export async function openFaultProxy(
  target: string,
  options: { readonly withoutKeys?: boolean } = {},
): Promise<FaultProxy> {
  const proxy = new ListeningProxy(target, options.withoutKeys ?? false);
  await proxy.listen();
  return proxy;
}

class ListeningProxy implements FaultProxy {
  private readonly target: URL;
  private readonly withoutKeys: boolean;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly underWay = new Set<Promise<void>>();
  private readonly server = createServer((incoming, outgoing) => {
    // Kept here: a request that is read to its end may let go of its connection.
    const { socket } = incoming;
    const work = this.answer(incoming, outgoing)
      .catch(() => void socket.resetAndDestroy())
      .finally(() => this.underWay.delete(work));
    this.underWay.add(work);
  });
  private readonly sockets = new Set<Socket>();
  private plan = new FaultPlan({ seed: 0, share: 0 });
  private comeBack: ComeBack = comeBackSoon;
  private port = 0;
  private closed = false;

  constructor(target: string, withoutKeys: boolean) {
    this.withoutKeys = withoutKeys;
    this.target = new URL(target);
    this.server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    if (this.closed || this.server.listening) return;
    await new Promise<void>((done, failed) => {
      this.server.once('error', failed);
      this.server.listen(this.port, '127.0.0.1', () => {
        this.server.off('error', failed);
        done();
      });
    });
    this.port = (this.server.address() as AddressInfo).port;
  }

  async follow(plan: FaultPlan, comeBack: ComeBack = comeBackSoon): Promise<void> {
    this.plan = plan;
    this.comeBack = comeBack;
    await this.listen();
  }

  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.agent.destroy();
    await this.goDown();
  }

  private goDown(): Promise<void> {
    const closed = new Promise<void>((done) => this.server.close(() => done()));
    for (const socket of this.sockets) socket.resetAndDestroy();
    return closed;
  }

  private async answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', socket } = incoming;
    const key = incoming.headers['idempotency-key'];
    const fault = this.plan.next({ method, url, idempotencyKey: typeof key === 'string' ? key : undefined });
    switch (fault.kind) {
      case 'reset-before':
        socket.resetAndDestroy();
        return;
      case 'reset-in-request':
        await readPart(incoming, fault.part);
        socket.resetAndDestroy();
        return;
      case 'restart':
        await this.goDown();
        this.comeBack(() => this.listen());
        return;
      case 'refused':
        await readPart(incoming, 1);
        refuse(outgoing, fault);
        return;
      case 'slow':
        await sleep(this.plan.delayOf(fault));
    }
    const answered = await this.forward(incoming);
    await playAnswer(fault, answered, outgoing);
  }

  private async forward(incoming: IncomingMessage): Promise<Answered> {
    const { method, url } = incoming;
    const { 'idempotency-key': key, ...others } = incoming.headers;
    const headers = { ...others, ...(key !== undefined && !this.withoutKeys && { 'idempotency-key': key }) };
    const { hostname, port } = this.target;
    const onward = request({ hostname, port, method, path: url, headers, agent: this.agent });
    const answer = new Promise<IncomingMessage>((done, failed) => onward.on('response', done).on('error', failed));
    // A client that goes away in the middle of its request leaves the service without the rest of it.
    pipeline(incoming, onward, (cause) => cause && onward.destroy(cause));
    const response = await answer;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const date = new Date(this.plan.now()).toUTCString();
    const { 'repr-digest': digest, ...told } = response.headers;
    const answered = { ...told, ...(digest !== undefined && !this.withoutKeys && { 'repr-digest': digest }), date };
    return { status: response.statusCode ?? 0, headers: answered, body: Buffer.concat(chunks) };
  }
}

/** Takes this part of a request's body, 0 to 1, as far as its announced length tells where that is. */
async function readPart(incoming: IncomingMessage, part: number): Promise<void> {
  const enough = Number(incoming.headers['content-length'] ?? 0) * part;
  if (part === 1) {
    incoming.resume();
    await finished(incoming, { writable: false });
    return;
  }
  let length = 0;
  for await (const chunk of incoming) {
    length += (chunk as Buffer).length;
    if (length >= enough) return;
  }
}

function comeBackSoon(start: () => Promise<void>): void {
  void sleep(30).then(start);
}
