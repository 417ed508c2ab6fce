import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ImageTurns } from '../budgets/imageturns.ts';
import type { ServerLog } from '../log.ts';
import { Link, processPort } from './link.ts';
import type { Role, Seat } from './member.ts';
import { SlotMetrics } from './slotmetrics.ts';

/** A process that has taken connections for so many milliseconds did not fail at its start. */
const SETTLED_MS = 1000;

/** Milliseconds until a process is started again that has failed at its start: the first time, and at most. */
const PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

/** How many connections a process is given, as a multiple of what the writer is: it works for the readers, too. */
const WEIGHTS: Readonly<Record<Role, number>> = { peer: 1, reader: 2, writer: 1 };

/** What a slot needs of its supervisor. */
interface SlotOptions {
  readonly fork: () => ChildProcess;
  readonly settings: object;
  readonly note: ServerLog['note'];
  /** The turns of images of all processes. */
  readonly images: ImageTurns;
  /** Called when its process takes connections. */
  readonly ready: () => void;
  /** Called when a connection of an address that was counted is closed. */
  readonly left: (address: string) => void;
  /** What its process may ask. */
  readonly handlers: Readonly<Record<string, (value: never) => unknown>>;
}

/** One process of a server, and those that replace it. */
export class Slot {
  readonly metrics = new SlotMetrics();
  private run: Run | undefined;
  private ending = false;
  private failures = 0;

  constructor(
    private readonly seat: Omit<Seat, 'fills'>,
    private readonly options: SlotOptions,
  ) {}

  get isReady(): boolean {
    return this.run?.isReady ?? false;
  }

  /** Open connections, by weight. */
  get load(): number {
    return ((this.run?.connections.size ?? 0) + 1) / WEIGHTS[this.seat.role];
  }

  /** Starts the process and resolves when it takes connections. Rejects with what it fails with. */
  async start<T>(fills: boolean): Promise<T> {
    const run = new Run(this.options);
    this.run = run;
    return run.start<T>({ ...this.seat, fills });
  }

  /** Replaces the process whenever it ends, from now on. */
  keepRunning(): void {
    const { run, options, seat } = this;
    void run?.ended.then(async (how) => {
      this.metrics.end();
      if (this.ending) return;
      options.note('error', 'a worker ended', { worker: seat.number, ...how });
      const isSettled = performance.now() - run.readyAt > SETTLED_MS;
      // Where no other can be forked it stays in its place, and its end is a failure the next time.
      run.readyAt = Number.POSITIVE_INFINITY;
      this.failures = isSettled ? 0 : this.failures + 1;
      const pause = this.failures === 0 ? 0 : Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** (this.failures - 1));
      setTimeout(() => this.restart(), pause).unref();
    });
  }

  give(socket: Socket, address: string, admitted: boolean): void {
    this.run?.give(socket, address, admitted);
  }

  tell(what: string): void {
    this.run?.link.tell(what);
  }

  ask<T>(what: string): Promise<T> {
    return this.run?.link.ask<T>(what) ?? Promise.reject(new Error('There is no process.'));
  }

  /** Lets the process complete what it does, and resolves when it has ended. */
  async end(): Promise<void> {
    this.ending = true;
    this.tell('end');
    await this.run?.ended;
  }

  kill(signal: 'SIGKILL' | 'SIGHUP' = 'SIGKILL'): void {
    this.run?.kill(signal);
  }

  private restart(): void {
    if (this.ending) return;
    this.start(false).then(
      () => this.options.note('info', 'a worker was replaced', { worker: this.seat.number }),
      (error: Error) => {
        this.options.note('error', 'a worker cannot start', { worker: this.seat.number, reason: error.message });
        this.kill();
      },
    );
    this.keepRunning();
  }
}

/** How a process ended; `reason`: why it could not be started. */
type Ended = { readonly code: number } | { readonly signal: string } | { readonly reason: string };

/** A process from its start to its end. */
class Run {
  readonly link: Link;
  readonly ended: Promise<Ended>;
  /** Addresses of its connections, by number; empty for those that are not counted. */
  readonly connections = new Map<number, string>();
  isReady = false;
  /** When it began to take connections, in milliseconds of this process's clock. */
  readyAt = Number.POSITIVE_INFINITY;
  private readonly child: ChildProcess;
  private readonly turns = new Map<number, () => void>();
  /** Connections that it has not taken yet. */
  private readonly untaken = new Map<number, Socket>();
  private hasEnded = false;
  private given = 0;
  private begun = 0;

  constructor(private readonly options: SlotOptions) {
    this.child = options.fork();
    this.link = new Link(processPort(this.child));
    for (const [what, handler] of Object.entries(options.handlers)) this.link.on(what, handler);
    this.link
      .on('ready', () => {
        this.isReady = true;
        this.readyAt = performance.now();
        options.ready();
      })
      .on('taken', (number: number) => this.handedOver(number))
      .on('closed', (number: number) => this.leave(number))
      .on('beginImage', (org: number) => this.beginImage(org))
      .on('endImage', (turn: number) => this.endTurn(turn));
    this.ended = new Promise((resolve) => {
      this.child.on('error', (error) => {
        // What cannot be started does not exit either.
        if (this.child.pid !== undefined) return;
        this.end();
        resolve({ reason: error.message });
      });
      this.child.once('exit', (code, signal) => {
        this.end();
        resolve(signal === null ? { code: code ?? 0 } : { signal });
      });
    });
  }

  start<T>(seat: Seat): Promise<T> {
    const unstarted = this.ended.then((how) => {
      // One that was started has said itself what it fails with.
      return 'reason' in how ? Promise.reject(new Error(how.reason)) : new Promise<never>(() => undefined);
    });
    return Promise.race([this.link.ask<T>('start', { seat, settings: this.options.settings }), unstarted]);
  }

  give(socket: Socket, address: string, admitted: boolean): void {
    const number = ++this.given;
    this.connections.set(number, admitted ? address : '');
    this.untaken.set(number, socket);
    this.link.tell('connection', { number, admitted }, socket);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The connection goes on in the other process. */
  private handedOver(number: number): void {
    this.untaken.get(number)?.destroy();
    this.untaken.delete(number);
  }

  private leave(number: number): void {
    const address = this.connections.get(number);
    this.connections.delete(number);
    if (address) this.options.left(address);
  }

  /** Answers the number of a turn when it has come; undefined when too many wait for one. */
  private beginImage(org: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.options.images.run(org, () => this.holdTurn(resolve)).catch(() => resolve(undefined));
    });
  }

  /** Keeps a turn until the process gives it back or ends: one that has ended takes none, though another replaces it. */
  private async holdTurn(begin: (turn: number) => void): Promise<void> {
    if (this.hasEnded) return;
    const turn = ++this.begun;
    await new Promise<void>((resolve) => {
      this.turns.set(turn, resolve);
      begin(turn);
    });
  }

  private endTurn(turn: number): void {
    this.turns.get(turn)?.();
    this.turns.delete(turn);
  }

  private end(): void {
    this.hasEnded = true;
    this.isReady = false;
    for (const number of [...this.connections.keys()]) this.leave(number);
    for (const turn of [...this.turns.keys()]) this.endTurn(turn);
    for (const socket of this.untaken.values()) socket.destroy();
  }
}
