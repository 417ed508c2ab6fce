import type { Connection } from '../../sqlite/open.ts';
import { type FaultFacts, QueryFault } from './fault.ts';
import type { QueryValue } from './result.ts';
import { openReadOnly } from './sqliteopen.ts';
import { SqliteQuery, type Statement } from './sqlitequery.ts';

/** What is asked of a reader: first to open a file and prepare a statement, then for rows, a number of them at most. */
export type ReaderRequest = { readonly file: string; readonly statement: Statement } | { readonly rows: number };

/** Its answer: names of columns, rows (none at the end), or what is wrong. */
export type ReaderReply =
  | { readonly names: readonly string[] }
  | { readonly rows: readonly (readonly QueryValue[])[] }
  | { readonly fault: FaultFacts };

/** Answers the requests of one query, in a process of its own or in this one. */
export class SqliteReader {
  private connection: Connection | undefined;
  private query: SqliteQuery | undefined;

  answer(request: ReaderRequest): ReaderReply {
    try {
      if ('rows' in request) return { rows: this.query?.next(request.rows) ?? [] };
      this.connection = openReadOnly(request.file);
      this.query = new SqliteQuery(this.connection, request.statement);
      return { names: this.query.names };
    } catch (cause) {
      if (cause instanceof QueryFault) return { fault: cause.facts };
      throw cause;
    }
  }
}
