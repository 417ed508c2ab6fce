import { statement } from '../statement.ts';
import type { Statement } from '../store.ts';
import type { Statements } from './statements.ts';

interface Sequence {
  readonly org: number;
  readonly type: string;
  last: number;
}

/**
 * The ids that the writes of one transaction allocate. This is the only writer, so each sequence is read once and written
 * once, before the transaction ends.
 */
export class Sequences {
  private readonly raised = new Map<string, Sequence>();

  constructor(private readonly statements: Statements) {}

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

  /** The statements that store the sequences, which are read again after that. */
  flush(): Statement[] {
    const statements = [...this.raised.values()].map(
      ({ org, type, last }) => statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, ${last})
        ON CONFLICT (org, type) DO UPDATE SET last_id = excluded.last_id`,
    );
    this.clear();
    return statements;
  }

  /** The writes that allocated the ids are undone. */
  clear(): void {
    this.raised.clear();
  }
}
