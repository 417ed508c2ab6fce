import sql from 'sql-template-tag';
import { asId } from '../../catalog/fields/numbers.ts';
import type { Transaction } from '../store/store.ts';
import type { ImportLine } from './lines.ts';

/** Lines read back at once. */
const PAGE = 200;

/**
 * Lines that can only be understood when all others are in. They wait in the database, since they may be many; their
 * ids are known.
 */
export class DeferredLines {
  private readonly ids = new Map<string, Set<unknown>>();
  private readonly tx: Transaction;
  private count = 0;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  /** Whether a line that waits is of the same record. */
  holds({ record }: ImportLine): boolean {
    return this.count > 0 && this.ids.get(kindOf(record))?.has(asId(record.id)) === true;
  }

  async add({ line, record }: ImportLine): Promise<void> {
    if (this.count === 0)
      await this.tx.run(sql`CREATE TEMP TABLE import_deferred (seq BIGINT, line BIGINT, record TEXT)`);
    this.count++;
    const kind = kindOf(record);
    const ids = this.ids.get(kind) ?? new Set();
    this.ids.set(kind, ids.add(asId(record.id)));
    await this.tx.run(
      sql`INSERT INTO import_deferred (seq, line, record) VALUES (${this.count}, ${line}, ${JSON.stringify(record)})`,
    );
  }

  /** The lines in their order; once. */
  async *drain(): AsyncGenerator<ImportLine> {
    if (this.count === 0) return;
    await this.tx.run(sql`CREATE INDEX import_deferred_by_seq ON import_deferred (seq)`);
    for (let after = 0; after < this.count; after += PAGE) {
      const page = await this.tx.all<{ line: number; record: string }>(
        sql`SELECT line, record FROM import_deferred WHERE seq > ${after} AND seq <= ${after + PAGE} ORDER BY seq`,
      );
      for (const { line, record } of page) yield { line, record: JSON.parse(record) as ImportLine['record'] };
    }
    await this.tx.run(sql`DROP TABLE import_deferred`);
  }
}

/** Records with one id of the same kind are the same record. */
function kindOf({ organizationId, type }: ImportLine['record']): string {
  return `${organizationId} ${type}`;
}
