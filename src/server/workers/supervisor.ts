import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTree } from '../../filesystem/durable.ts';
import { ConnectionBudget } from '../budgets/connectionbudget.ts';
import { ImageTurns } from '../budgets/imageturns.ts';
import { DEFAULT_BUDGETS } from '../budgets/limits.ts';
import { MEMORY } from '../datafolder.ts';
import { onHangup } from '../http/tls.ts';
import type { ToldMetrics } from '../metrics/route.ts';
import { pause } from '../pause.ts';
import { type DemoAccess, hostOf, type RunningServer, type ServeOptions } from '../serve.ts';
import type { Role, Seat } from './member.ts';
import { Slot } from './slot.ts';

/** How a server of several processes is started. */
export interface SuperviseOptions extends Omit<ServeOptions, 'demo' | 'member'> {
  /** How many processes, 2 at least. */
  readonly workers: number;
  /** Starts a process with a channel of messages. */
  readonly fork: () => ChildProcess;
  /** What each process is told with its seat, as JSON. */
  readonly settings: (options: { readonly data: string }) => object;
}

/** How this machine reaches a server that listens on all of its addresses. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Milliseconds that the processes may take to end; then they are killed. */
const END_MS = 22_000;

/** Milliseconds that a connection may wait for a process. */
const WAIT_MS = 10_000;

/**
 * Starts the processes of a server and gives them its connections (D59). Rejects as `serve` does with what the
 * first process, or any other at the start, fails with.
 */
export async function supervise(options: SuperviseOptions): Promise<RunningServer> {
  const supervisor = new Supervisor(options, await mkdtemp(join(tmpdir(), 'molar-workers-')));
  try {
    return await supervisor.start();
  } catch (error) {
    await supervisor.end();
    throw error;
  }
}

class Supervisor {
  private readonly connections: ConnectionBudget;
  private readonly images: ImageTurns;
  private readonly listener: Server;
  private readonly slots: Slot[];
  /** Connections that wait for a process; each is counted, and closed when it has waited too long. */
  private readonly waiting = new Map<Socket, { readonly address: string; readonly late: NodeJS.Timeout }>();
  private isDraining = false;
  private url: Promise<string> | undefined;
  private forgetHangup = () => {};

  /** `folder`: a private one for the sockets of the processes, and for data that is to be gone at the end. */
  constructor(
    private readonly options: SuperviseOptions,
    private readonly folder: string,
  ) {
    const { connections, images } = { ...DEFAULT_BUDGETS, ...options.budgets };
    this.connections = new ConnectionBudget(connections);
    this.images = new ImageTurns(images);
    this.listener = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.accept(socket));
    this.slots = Array.from({ length: options.workers }, (_, index) => this.slotOf(index + 1));
  }

  async start(): Promise<RunningServer> {
    if (this.options.tls !== undefined) {
      this.forgetHangup = onHangup(() => {
        for (const slot of this.slots) slot.kill('SIGHUP');
      });
    }
    const [first, ...others] = this.slots as [Slot, ...Slot[]];
    const demo = await first.start<DemoAccess | undefined>(true);
    await Promise.all(others.map((slot) => slot.start(false)));
    for (const slot of this.slots) slot.keepRunning();
    return {
      url: await this.listen(),
      path: this.data,
      ...(demo && { demo }),
      drain: () => this.drain(),
      close: (drainMs) => this.close(drainMs),
    };
  }

  /** Ends what runs, as far as it has come. */
  async end(): Promise<void> {
    this.forgetHangup();
    this.listener.close();
    const over = new AbortController();
    const ended = Promise.all(this.slots.map((slot) => slot.end())).finally(() => over.abort());
    await Promise.race([ended, pause(END_MS, over.signal)]);
    for (const slot of this.slots) slot.kill();
    for (const socket of this.waiting.keys()) socket.destroy();
    await removeTree(this.folder);
  }

  private async close(drainMs = 0): Promise<void> {
    this.options.log.note('info', 'stopping', { drainMs });
    this.drain();
    await sleep(drainMs);
    await this.end();
    this.options.log.note('info', 'stopped');
  }

  private drain(): void {
    this.isDraining = true;
    for (const slot of this.slots) slot.tell('drain');
  }

  private get data(): string {
    return this.options.data === MEMORY ? join(this.folder, 'data') : this.options.data;
  }

  private slotOf(number: number): Slot {
    const { options } = this;
    const role: Role = options.database !== undefined ? 'peer' : number === 1 ? 'writer' : 'reader';
    const seat: Omit<Seat, 'fills'> = {
      number,
      role,
      count: options.workers,
      writerPath: join(this.folder, 'writer'),
    };
    const slot: Slot = new Slot(seat, {
      fork: options.fork,
      settings: options.settings({ data: this.data }),
      note: options.log.note,
      images: this.images,
      ready: () => this.begin(slot),
      left: (address) => this.connections.leave(address),
      handlers: {
        listen: () => this.listen(),
        metrics: (own: ToldMetrics) => this.metricsBeside(slot, own),
      },
    });
    return slot;
  }

  /** Listens, when the first process is ready for connections. */
  private listen(): Promise<string> {
    this.url ??= this.listenNow();
    return this.url;
  }

  private async listenNow(): Promise<string> {
    const { options, listener } = this;
    listener.listen({ host: hostOf(options), port: options.port });
    await once(listener, 'listening');
    const { address, port } = listener.address() as { address: string; port: number };
    const reached = ANY_ADDRESS[address] ?? address;
    const host = reached.includes(':') ? `[${reached}]` : reached;
    return `${options.tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  }

  private accept(socket: Socket): void {
    const { remoteAddress: address } = socket;
    // Who has hung up already has no address.
    if (address === undefined) return void socket.destroy();
    const admitted = this.connections.take(address, this.options.behindProxy);
    if (this.give(socket, address, admitted)) return;
    // There is no process that could say why.
    if (!admitted) return void socket.destroy();
    const late = setTimeout(() => {
      this.waiting.delete(socket);
      this.connections.leave(address);
      socket.destroy();
    }, WAIT_MS).unref();
    this.waiting.set(socket, { address, late });
  }

  /** Gives a connection to the process with the fewest; false while there is none. */
  private give(socket: Socket, address: string, admitted: boolean): boolean {
    const slot = this.slots
      .filter(({ isReady }) => isReady)
      .reduce<Slot | undefined>((best, next) => (best === undefined || next.load < best.load ? next : best), undefined);
    slot?.give(socket, address, admitted);
    return slot !== undefined;
  }

  private begin(slot: Slot): void {
    if (this.isDraining) slot.tell('drain');
    for (const [socket, { address, late }] of this.waiting) {
      clearTimeout(late);
      this.give(socket, address, true);
    }
    this.waiting.clear();
  }

  /** What counts beside what a process that is asked for metrics tells itself. */
  private async metricsBeside(asking: Slot, own: ToldMetrics): Promise<ToldMetrics[]> {
    asking.metrics.keep(own);
    const told = this.slots.map((slot) =>
      slot === asking ? slot.metrics.ended() : slot.metrics.all(() => slot.ask<ToldMetrics>('metrics')),
    );
    return (await Promise.all(told)).flat();
  }
}
