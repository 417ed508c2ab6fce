import { connect, type Socket } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import type { LogRow } from '../store/store.ts';
import { Link, LinkEnded, linePort } from './link.ts';

/** Milliseconds until a connection to the writer is tried again. */
const RETRY_MS = 50;

/** The first line of a connection to the writer, which says what the others are. */
export type Introduction = { readonly link: true } | { readonly connection: Caller };

/** Whose connection it is that a reader hands on: what the writer cannot see itself. */
export interface Caller {
  readonly address: string;
  readonly port: number;
  /** Whether it came over TLS, and what is known of its certificate (`Presented`). */
  readonly encrypted: boolean;
  readonly certificate?: object | undefined;
  /** In which its requests came, whichever version they are handed on in. */
  readonly httpVersion: string;
}

/** Connects to the writer and says what for. */
export function connectWriter(path: string, introduction: Introduction): Socket {
  const socket = connect(path);
  socket.write(`${JSON.stringify(introduction)}\n`);
  return socket;
}

/** What a reader asks of the writer. While there is no writer, or a new one, it rejects with `LinkEnded`. */
export class WriterLink {
  private link: Link | undefined;
  private socket: Socket;
  private closed = false;
  /** Rows that wait for those before them to be on disk, and for the end of this turn of the event loop. */
  private rows: LogRow[] = [];
  private appending: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  /** Resolves when the writer was reached for the first time. */
  readonly reached: Promise<void>;
  private hasReached: () => void = () => undefined;

  constructor(private readonly path: string) {
    this.reached = new Promise((resolve) => {
      this.hasReached = resolve;
    });
    this.socket = this.connect();
  }

  ask<T = void>(what: string, value: unknown): Promise<T> {
    return this.link?.ask<T>(what, value) ?? Promise.reject(new LinkEnded());
  }

  /** Appends rows to logs: all that come in while others are written are one message, and share a commit. */
  appendLogs(rows: readonly LogRow[]): Promise<void> {
    this.rows.push(...rows);
    this.next ??= this.appendNext(this.appending);
    return this.next;
  }

  private async appendNext(before: Promise<void>): Promise<void> {
    await before.catch(() => undefined);
    await immediate();
    const together = this.rows;
    this.rows = [];
    this.next = undefined;
    this.appending = this.ask('append', together);
    await this.appending;
  }

  close(): void {
    this.closed = true;
    this.socket.destroy();
  }

  private connect(): Socket {
    const socket = connectWriter(this.path, { link: true });
    const link = new Link(linePort(socket));
    socket.once('connect', () => {
      this.link = link;
      this.hasReached();
    });
    socket.once('close', () => {
      this.link = undefined;
      if (!this.closed) setTimeout(() => this.reconnect(), RETRY_MS);
    });
    return socket;
  }

  private reconnect(): void {
    if (!this.closed) this.socket = this.connect();
  }
}
