import type { OpenOptions } from '../datafolder.ts';
import type { App, AppOptions, ProcessOptions } from '../http/app.ts';
import type { Service } from '../service.ts';
import type { SignIn } from '../signin/signin.ts';

/**
 * What a process is to the server: `peer`, one of several equal ones on a database; `writer`, the one that writes to
 * SQLite; `reader`, one beside it, which answers reads of records and hands everything else on to it (D59).
 */
export type Role = 'peer' | 'writer' | 'reader';

/** Where a process has its place in a server of several; it can be sent as JSON. */
export interface Seat {
  /** From 1; in the log as `worker`. */
  readonly number: number;
  /** How many processes there are. */
  readonly count: number;
  readonly role: Role;
  /** Whether it fills the store before the server listens: the first one, the first time. */
  readonly fills: boolean;
  /** Path of the socket on which the writer listens for readers. */
  readonly writerPath: string;
}

/** A process of a server of several, as the server in it sees it. */
export interface Member {
  readonly seat: Seat;
  /** How its folder is opened. */
  readonly folder: Pick<OpenOptions, 'serving' | 'reading' | 'budgetPart'>;
  /** How its app differs from that of a server of one process. */
  appOptions(options: Pick<AppOptions, 'rateLimit'>, signIn: SignIn): ProcessOptions;
  /** Serves the connections that it is given; answers the address of the server. */
  listen(app: App, service: Service, signIn: SignIn): Promise<string>;
  /** Resolves when nothing leads to other processes any more. */
  close(): Promise<void>;
}
