import type Database from 'better-sqlite3';
import type { Connection } from '../../../sqlite/open.ts';
import { boundValues } from '../statement.ts';
import type { Statement } from '../store.ts';

/** Prepared statements of one connection, cached by their text. */
export class Statements {
  private readonly cached = new Map<string, Database.Statement>();

  constructor(private readonly connection: Connection) {}

  all<T>(statement: Statement): T[] {
    return this.prepared(statement.sql).all(...boundValues(statement.values)) as T[];
  }

  get<T>(statement: Statement): T | undefined {
    return this.prepared(statement.sql).get(...boundValues(statement.values)) as T | undefined;
  }

  run(statement: Statement): number {
    return this.prepared(statement.sql).run(...boundValues(statement.values)).changes;
  }

  private prepared(sql: string): Database.Statement {
    const known = this.cached.get(sql);
    if (known !== undefined) return known;
    // Filters make texts without end: the oldest one is evicted.
    if (this.cached.size >= 500) this.cached.delete(this.cached.keys().next().value as string);
    const prepared = this.connection.prepare(sql);
    this.cached.set(sql, prepared);
    return prepared;
  }
}
