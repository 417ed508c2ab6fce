import { statement } from '../statement.ts';
import type { Statement } from '../store.ts';
import type { Statements } from './statements.ts';

interface Sequence {
  readonly org: number;
  readonly type: string;
  last: number;
}

/**
 * The ids that the writes of one transaction give out. This is the only writer, so where a sequence stands is read once,
 * and written once, before the end of what gave its ids out.
 */
export class Sequences {
  private readonly raised = new Map<string, Sequence>();
  private readonly statements: Statements;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  next(org: number, type: string): number {
    const name = `${org} ${type}`;
    let sequence = this.raised.get(name);
    if (sequence === undefined) {
      const found = statement`SELECT last_id FROM sequences WHERE org = ${org} AND type = ${type}`;
      sequence = { org, type, last: this.statements.get<{ last_id: number }>(found)?.last_id ?? 0 };
      this.raised.set(name, sequence);
    }
    return ++sequence.last;
  }

  /** The statements that write where the sequences stand now; they are read again after that. */
  flush(): Statement[] {
    const statements = [...this.raised.values()].map(
      ({ org, type, last }) => statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, ${last})
        ON CONFLICT (org, type) DO UPDATE SET last_id = excluded.last_id`,
    );
    this.forget();
    return statements;
  }

  /** The writes that gave the ids out are undone. */
  forget(): void {
    this.raised.clear();
  }
}
