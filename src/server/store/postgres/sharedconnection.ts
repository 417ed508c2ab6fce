import type { Pool } from 'pg';
import type { Statement } from '../store.ts';
import { isLost, storeFault } from './faults.ts';
import { type Connection, connectionOf } from './statements.ts';

/**
 * One connection of a pool, taken with the first read and kept, for reads that take next to nothing. Those of a turn of the
 * event loop are sent together when it ends, and equal ones once: whatever was committed before anybody asked is in the
 * reply, and it costs a fraction of a read that is sent by itself.
 */
export class SharedConnection {
  private connecting: Promise<Connection> | undefined;
  /** The reads of this turn, and its end. */
  private reads = new Map<string, Promise<unknown[]>>();
  private turn: Promise<void> | undefined;

  /** `patienceMs`: as `Connection.patienceMs`. */
  constructor(
    private readonly pool: Pool,
    private readonly patienceMs: number,
  ) {}

  /** The rows that a statement reads. After a connection that was lost the next read takes another one. */
  read(statement: Statement): Promise<unknown[]> {
    this.turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.turn = undefined;
        this.reads = new Map();
        resolve();
      });
    });
    const key = JSON.stringify([statement.text, statement.values]);
    const shared = this.reads.get(key) ?? this.turn.then(() => this.run(statement));
    this.reads.set(key, shared);
    return shared;
  }

  close(): Promise<void> {
    return this.release(false);
  }

  private async run(statement: Statement): Promise<unknown[]> {
    this.connecting ??= this.connect();
    const { connecting } = this;
    try {
      return (await (await connecting).run(statement)).rows;
    } catch (error) {
      const fault = storeFault(error);
      if (isLost(fault) && this.connecting === connecting) await this.release(true);
      throw fault;
    }
  }

  private async connect(): Promise<Connection> {
    try {
      const connection = connectionOf(await this.pool.connect(), true);
      connection.patienceMs = this.patienceMs;
      return connection;
    } catch (error) {
      // Whatever was wrong then, such as a password, the next read tries again.
      this.connecting = undefined;
      throw error;
    }
  }

  private async release(isBroken: boolean): Promise<void> {
    const { connecting } = this;
    this.connecting = undefined;
    const connection = await connecting?.catch(() => undefined);
    connection?.client.release(isBroken);
  }
}
