import { statement } from './statement.ts';
import type { Reader, Statement, Transaction } from './store.ts';

/** `Transaction.nextId` in one statement. */
export async function nextId(tx: Pick<Reader, 'get'>, org: number, type: string): Promise<number> {
  const row = await tx.get<{ last_id: number }>(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, 1)
      ON CONFLICT (org, type) DO UPDATE SET last_id = sequences.last_id + 1 RETURNING last_id`,
  );
  return row?.last_id ?? 1;
}

/** Keeps an imported id from ever being given again. */
export async function raiseSequence(tx: Transaction, org: number, type: string, id: number): Promise<void> {
  await tx.run(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, ${id})
      ON CONFLICT (org, type) DO UPDATE SET last_id = excluded.last_id WHERE excluded.last_id > sequences.last_id`,
  );
}

interface Sequence {
  readonly org: number;
  readonly type: string;
  last: number;
}

/**
 * The ids that the works of one transaction allocate: each sequence is read once and written once, before the transaction
 * ends. `lastId` reads one, and sees to it that nobody else raises it before that.
 */
export class Sequences {
  private raised = new Map<string, Promise<Sequence>>();
  private known: Sequence[] = [];

  constructor(private readonly lastId: (org: number, type: string) => Promise<number>) {}

  async next(org: number, type: string): Promise<number> {
    const name = `${org} ${type}`;
    let reading = this.raised.get(name);
    if (reading === undefined) {
      reading = this.lastId(org, type).then((last) => {
        const sequence = { org, type, last };
        this.known.push(sequence);
        return sequence;
      });
      this.raised.set(name, reading);
    }
    return ++(await reading).last;
  }

  /** The statements that store the sequences, which are read again after that. */
  flush(): Statement[] {
    const statements = this.known.map(
      ({ org, type, last }) => statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, ${last})
        ON CONFLICT (org, type) DO UPDATE SET last_id = excluded.last_id`,
    );
    this.clear();
    return statements;
  }

  /** The writes that allocated the ids are undone. */
  clear(): void {
    this.raised = new Map();
    this.known = [];
  }
}

/** Reads a sequence, and locks it until the transaction ends. */
export async function lockLastId(tx: Pick<Reader, 'get'>, org: number, type: string): Promise<number> {
  const row = await tx.get<{ last_id: number }>(
    statement`INSERT INTO sequences (org, type, last_id) VALUES (${org}, ${type}, 0)
      ON CONFLICT (org, type) DO UPDATE SET last_id = sequences.last_id RETURNING last_id`,
  );
  return row?.last_id ?? 0;
}
