import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** What carries messages to one other process, and a connection with a message where the system can do that. */
export interface Port {
  send(message: object, socket?: Socket): void;
  onMessage(listener: (message: unknown, socket?: Socket) => void): void;
  onEnd(listener: () => void): void;
}

type Handler = (value: never, socket: Socket | undefined) => unknown;

/** A question, its answer, or a word that needs none. */
interface Message {
  readonly ask?: number;
  readonly what?: string;
  readonly answer?: number;
  readonly value?: unknown;
  readonly error?: Readonly<Record<string, unknown>>;
}

interface Question {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The other process is gone, or has not answered before it went. The table of failures has it as 503. */
export class LinkEnded extends Error {
  readonly code = 'STORE_AWAY';

  constructor() {
    super('The other process has ended.');
  }
}

/** Questions and answers between two processes. What a handler throws is thrown where it was asked, with name and facts. */
export class Link {
  private readonly handlers = new Map<string, Handler>();
  private readonly questions = new Map<number, Question>();
  private asked = 0;
  private ended = false;

  constructor(private readonly port: Port) {
    port.onMessage((message, socket) => this.receive(message as Message, socket));
    port.onEnd(() => {
      this.ended = true;
      for (const { reject } of this.questions.values()) reject(new LinkEnded());
      this.questions.clear();
    });
  }

  /** Says what to do about a message; what it returns or resolves to is the answer. */
  on(what: string, handler: Handler): this {
    this.handlers.set(what, handler);
    return this;
  }

  /** Asks the other process. Rejects with what it throws, or with `LinkEnded`. */
  ask<T = void>(what: string, value?: unknown): Promise<T> {
    if (this.ended) return Promise.reject(new LinkEnded());
    const ask = ++this.asked;
    return new Promise<T>((resolve, reject) => {
      this.questions.set(ask, { resolve: resolve as (value: unknown) => void, reject });
      this.port.send({ ask, what, value });
    });
  }

  /** Tells the other process something, and shares a connection with it. Nobody learns whether that arrives. */
  tell(what: string, value?: unknown, socket?: Socket): void {
    if (!this.ended) this.port.send({ what, value }, socket);
  }

  private receive({ ask, what, answer, value, error }: Message, socket: Socket | undefined): void {
    if (what !== undefined) return void this.handle(what, value, socket, ask);
    const question = this.questions.get(answer ?? 0);
    this.questions.delete(answer ?? 0);
    if (error === undefined) question?.resolve(value);
    else question?.reject(Object.assign(new Error(String(error.message)), error));
  }

  private async handle(what: string, value: unknown, socket: Socket | undefined, ask: number | undefined) {
    try {
      const answer = await this.handlers.get(what)?.(value as never, socket);
      if (ask !== undefined) this.port.send({ answer: ask, value: answer });
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      if (ask !== undefined) this.port.send({ answer: ask, error: { ...(error as object), name, message } });
    }
  }
}

/** The channel between a process and one that it has started, from either end. */
export function processPort(other: ChildProcess | NodeJS.Process): Port {
  return {
    // Whoever ends without taking a message is noticed by its end. Node itself would never close a connection that is lost so.
    send: (message, socket) => void other.send?.(message, socket, { keepOpen: true }, () => undefined),
    onMessage: (listener) => void other.on('message', listener as (message: unknown) => void),
    onEnd: (listener) => void other.on('disconnect', listener),
  };
}

/** A stream of lines, each a message as JSON; it carries no connections. */
export function linePort(socket: Socket): Port {
  let listener: (message: unknown) => void = () => undefined;
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) listener(JSON.parse(line));
  });
  return {
    send: (message) => void socket.write(`${JSON.stringify(message)}\n`),
    onMessage: (given) => {
      listener = given;
    },
    onEnd: (ended) => {
      socket.on('error', () => socket.destroy());
      socket.once('close', ended);
    },
  };
}
