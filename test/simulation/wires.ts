import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Network, NetworkOptions } from '../../src/core/transport/network.ts';
import { ConnectionFailure, type OutgoingRequest } from '../../src/core/transport/send.ts';
import { Draws } from '../faithful/random.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** What a network does to its connections; shares are of all connections. */
export interface Weather {
  /** Not made at all. */
  readonly refused: number;
  /** Cut off after some bytes of the request. */
  readonly cutRequest: number;
  /** Cut off after some bytes of the response, or before the first. */
  readonly cutResponse: number;
  /** In one direction so slow that whoever waits may have given up. */
  readonly late: number;
  /** The request arrives twice, as a proxy may send it again. */
  readonly twice: number;
  /** Milliseconds after which a connection is cut off, on average. */
  readonly life: number;
}

export const FAIR: Weather = { refused: 0, cutRequest: 0, cutResponse: 0, late: 0, twice: 0, life: Infinity };
export const RAIN: Weather = {
  ...{ refused: 0.02, cutRequest: 0.02, cutResponse: 0.04, late: 0.02, twice: 0.03 },
  life: 2 * HOUR,
};
export const STORM: Weather = {
  ...{ refused: 0.1, cutRequest: 0.1, cutResponse: 0.2, late: 0.1, twice: 0.1 },
  life: HOUR / 12,
};
export const OUTAGE: Weather = { ...FAIR, refused: 1 };

/** Who answers at an address; undefined while nobody does. */
export type Host = (url: string) => ((wire: Wire) => void) | undefined;

/** A network in this process, on virtual time, whose every fault follows from its seed. */
export class SeededNetwork {
  weather: Weather = FAIR;
  /** Each request and what became of it, for telling two days apart. */
  readonly trace: string[] = [];
  private readonly open = new Set<Wire>();
  private connections = 0;

  constructor(
    private readonly seed: string,
    /** `knowsKeys`: a POST that arrives twice with the same key is one. */
    private readonly server: { readonly host: Host; readonly knowsKeys: boolean },
  ) {}

  /** Opens the network of a command. */
  readonly openNetwork = (_: NetworkOptions): Network => ({
    send: (request) => this.send(request),
    close: () => Promise.resolve(),
  });

  /** Cuts off every connection, as the end of a server does. */
  cutAll(): void {
    for (const wire of this.open) wire.cut();
  }

  private async send(request: OutgoingRequest) {
    request.signal?.throwIfAborted();
    const { method, url } = request;
    const number = ++this.connections;
    const draws = new Draws(`${this.seed} connection ${number}`);
    const { refused, twice } = this.weather;
    // The system chooses some ports, and each server signs its links with a key of its own.
    const place = `${Date.now()} ${number} ${method} ${url.replace(/:\d+/, '').replace(/[?]expires=.*/, '')}`;
    const answering = draws.chance(refused) ? undefined : this.server.host(url);
    if (answering === undefined) {
      this.trace.push(`${place}: refused`);
      throw new ConnectionFailure('Connection refused: practice.', { sent: false });
    }
    const body = await bytesOf(request.body);
    const isKeyed = this.server.knowsKeys && request.headers['idempotency-key'] !== undefined;
    if ((method === 'GET' || isKeyed) && !url.includes('/stream') && draws.chance(twice)) {
      const first = this.exchange(request, body, answering, new Draws(`${this.seed} copy of ${number}`));
      first.then((response) => response.resume()).catch(() => undefined);
    }
    try {
      const response = await this.exchange(request, body, answering, draws);
      this.trace.push(`${place}: ${response.statusCode}`);
      const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
      return { status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body: response };
    } catch (cause) {
      this.trace.push(`${place}: lost`);
      request.signal?.throwIfAborted();
      throw new ConnectionFailure('Connection lost: practice.', { sent: true, cause });
    }
  }

  private exchange(
    { method, url, headers, signal }: OutgoingRequest,
    body: Buffer | undefined,
    answering: (wire: Wire) => void,
    draws: Draws,
  ): Promise<IncomingMessage> {
    // Who works at a request after its sender has given up, and knows no keys, creates twice: nobody could keep it from that.
    const mayBeLate = method !== 'POST' || this.server.knowsKeys;
    const [here, there] = this.connect(draws, mayBeLate);
    answering(there);
    const { host, pathname, search } = new URL(url);
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        ...{ createConnection: () => here, method, path: pathname + search },
        headers: {
          ...headers,
          host,
          // To decompress is work of another thread, and would end at a time of its own.
          'accept-encoding': 'identity',
          ...(body !== undefined && { 'content-length': body.length }),
        },
        ...(signal && { signal }),
      });
      outgoing.once('error', reject).once('response', (response) => {
        // A response that is cut off tells its reader, and nobody else has to be told.
        response.on('error', () => undefined);
        resolve(response);
      });
      outgoing.end(body);
    });
  }

  private connect(draws: Draws, mayBeLate: boolean): [Wire, Wire] {
    const { cutRequest, cutResponse, late, life } = this.weather;
    const slow = () => (draws.chance(late) ? draws.whole(20, 200) * SECOND : 0);
    const sizes = [0, 1, 40, 400, 4000, 40_000];
    const end = (share: number) => (draws.chance(share) ? draws.whole(0, draws.one(sizes)) : Number.POSITIVE_INFINITY);
    const here = new Wire({ latency: draws.whole(2, 80), slow: mayBeLate ? slow() : 0, end: end(cutRequest) });
    const there = new Wire({ latency: draws.whole(2, 80), slow: slow(), end: end(cutResponse) });
    here.peer = there;
    there.peer = here;
    this.open.add(here);
    const cut = Number.isFinite(life) && setTimeout(() => here.cut(), -Math.log(1 - draws.fraction()) * life);
    here.once('close', () => {
      this.open.delete(here);
      if (cut) clearTimeout(cut);
    });
    return [here, there];
  }
}

async function bytesOf(body: OutgoingRequest['body']): Promise<Buffer | undefined> {
  if (body === undefined) return undefined;
  return typeof body === 'string' ? Buffer.from(body) : buffer(body.open());
}

/** How one direction of a connection behaves: milliseconds to the other end, more for the first bytes, bytes until it is cut. */
interface Direction {
  readonly latency: number;
  readonly slow: number;
  readonly end: number;
}

/** One end of a connection. What is written arrives at the other end later, in order; a socket as far as HTTP asks for one. */
export class Wire extends Duplex {
  peer: Wire | undefined;
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 1;
  bytesWritten = 0;
  timeout = 0;
  private arrival = 0;
  private hasEnd = false;

  constructor(private readonly direction: Direction) {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error) => void): void {
    const left = this.direction.end - this.bytesWritten;
    this.bytesWritten += chunk.length;
    const part = chunk.subarray(0, Math.max(0, left));
    this.later(() => {
      if (part.length > 0) this.peer?.receive(part);
      if (left < chunk.length) this.cut();
    });
    done();
  }

  override _final(done: (error?: Error) => void): void {
    this.later(() => this.peer?.receive(null));
    done();
  }

  /** The other end may still read what was sent before, and learns of it behind that. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.later(() => this.peer?.receive(null));
    done(error);
  }

  /** Both ends learn at once that the connection is lost. */
  cut(): void {
    this.peer?.destroy(reset());
    this.destroy(reset());
  }

  /** What the other end has sent; null is its end. */
  private receive(part: Buffer | null): void {
    if (this.hasEnd || this.destroyed) return;
    this.hasEnd = part === null;
    this.push(part);
  }

  destroySoon(): void {
    this.end(() => this.destroy());
  }

  setTimeout(milliseconds: number): this {
    this.timeout = milliseconds;
    return this;
  }

  setKeepAlive = (): this => this;
  setNoDelay = (): this => this;
  ref = (): this => this;
  unref = (): this => this;

  private later(work: () => void): void {
    const { latency, slow } = this.direction;
    // Timers of the same millisecond go off in the order in which they were set.
    this.arrival = Math.max(this.arrival, Date.now() + latency + (this.arrival === 0 ? slow : 0));
    setTimeout(work, this.arrival - Date.now());
  }
}

function reset(): Error {
  return Object.assign(new Error('The connection was cut off.'), { code: 'ECONNRESET' });
}
