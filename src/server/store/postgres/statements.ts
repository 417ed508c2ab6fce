import type { Writable } from 'node:stream';
import type { PoolClient, QueryResult } from 'pg';
import { boundValues } from '../statement.ts';
import type { Statement } from '../store.ts';
import { storeFault } from './faults.ts';

/** Maximum prepared statements of one connection. */
const MAX_PREPARED = 500;

/** What the driver's types leave out: its record of prepared statements, and its socket. */
interface DriverClient {
  readonly connection: {
    readonly parsedStatements: Record<string, string>;
    readonly stream: Pick<Writable, 'cork' | 'uncork'>;
    close(what: { readonly type: 'S'; readonly name: string }): void;
  };
}

/** One connection that runs statements, prepared by their text unless a pooler gives them to other connections. */
export class Connection {
  private readonly names = new Map<string, string>();
  private made = 0;
  private gathers = false;
  /**
   * Milliseconds after which a reply is not expected any more, and the connection is aborted. Longer than the database
   * itself may take; 0 is without a limit.
   */
  patienceMs = 0;

  constructor(
    readonly client: PoolClient,
    private readonly prepares: boolean,
  ) {}

  /** Runs a statement; may be called before the previous one has been replied to. Throws what `storeFault` makes. */
  async run(statement: Statement): Promise<QueryResult> {
    const values = boundValues(statement.values);
    this.gather();
    try {
      const { text } = statement;
      const name = this.prepares ? { name: this.nameOf(text) } : {};
      return await this.client.query({ ...name, text, values, ...this.patience() });
    } catch (error) {
      throw storeFault(error);
    }
  }

  /** Runs commands without values, separated by semicolons. Returns the tag of the last one: `COMMIT`. */
  async command(text: string): Promise<string> {
    this.gather();
    try {
      const results = await this.client.query({ text, ...this.patience() });
      // Several commands have several results, of which the driver's types do not know.
      return ([results].flat().at(-1) as QueryResult).command;
    } catch (error) {
      throw storeFault(error);
    }
  }

  /** Has every statement planned anew at its next use, by what its tables are then. */
  replan(): void {
    while (this.names.size > 0) this.closeOldest();
  }

  /**
   * Statements that follow each other without waiting leave together: to write to a socket takes as much as a short
   * statement (a tenth of a millisecond).
   */
  private gather(): void {
    if (this.gathers) return;
    this.gathers = true;
    const { stream } = (this.client as unknown as DriverClient).connection;
    stream.cork();
    process.nextTick(() => {
      this.gathers = false;
      stream.uncork();
    });
  }

  private patience(): { query_timeout?: number } {
    return this.patienceMs === 0 ? {} : { query_timeout: this.patienceMs };
  }

  private nameOf(text: string): string {
    const known = this.names.get(text);
    if (known !== undefined) {
      // The one used last goes to the end.
      this.names.delete(text);
      this.names.set(text, known);
      return known;
    }
    if (this.names.size >= MAX_PREPARED) this.closeOldest();
    const name = `molar_${++this.made}`;
    this.names.set(text, name);
    return name;
  }

  private closeOldest(): void {
    const [text, name] = this.names.entries().next().value as [string, string];
    this.names.delete(text);
    const { connection } = this.client as unknown as DriverClient;
    delete connection.parsedStatements[name];
    // Unlike DEALLOCATE this cannot fail, in whatever state a transaction is.
    connection.close({ type: 'S', name });
  }
}

/** Milliseconds for the network, beside the time of the database. */
const NETWORK_MS = 5_000;

/** Milliseconds to wait for the reply to a statement with a time limit; 0 for both is without a limit. */
export function patienceFor(timeoutMs: number): number {
  return timeoutMs === 0 ? 0 : timeoutMs + NETWORK_MS;
}

const connections = new WeakMap<PoolClient, Connection>();

/** The connection of a client of a pool: the same for as long as the client lives. */
export function connectionOf(client: PoolClient, prepares: boolean): Connection {
  const known = connections.get(client);
  if (known !== undefined) return known;
  const made = new Connection(client, prepares);
  connections.set(client, made);
  return made;
}
