import sql from 'sql-template-tag';
import { asId } from '../../catalog/fields/numbers.ts';
import type { Writing } from '../store/store.ts';
import type { ImportLine } from './lines.ts';

/** Deferred lines read back at once. */
const PAGE_SIZE = 200;

/** Lines that can only be read after all others: stored in the database, since they may be many, with ids in memory. */
export class DeferredLines {
  private readonly ids = new Map<string, Set<unknown>>();
  private count = 0;

  /** `name`: the import that they are of; the table is `import_deferred` (`STAGING_TABLES`). */
  constructor(
    private readonly tx: Writing,
    private readonly name: string,
  ) {}

  /** Whether a deferred line is about the same record. */
  includes({ record }: ImportLine): boolean {
    return this.ids.get(kindOf(record))?.has(asId(record.id)) === true;
  }

  async add({ line, record }: ImportLine): Promise<void> {
    this.count++;
    const kind = kindOf(record);
    const ids = this.ids.get(kind) ?? new Set();
    this.ids.set(kind, ids.add(asId(record.id)));
    await this.tx.run(sql`INSERT INTO import_deferred (import, seq, line, record)
      VALUES (${this.name}, ${this.count}, ${line}, ${JSON.stringify(record)})`);
  }

  /** The lines in their order. */
  async *drain(): AsyncGenerator<ImportLine> {
    for (let after = 0; after < this.count; after += PAGE_SIZE) {
      const page = await this.tx.all<{ line: number; record: string }>(
        sql`SELECT line, record FROM import_deferred WHERE import = ${this.name} AND seq > ${after}
          AND seq <= ${after + PAGE_SIZE} ORDER BY seq`,
      );
      for (const { line, record } of page) yield { line, record: JSON.parse(record) as ImportLine['record'] };
    }
  }
}

/** Records with one id of the same kind are the same record. */
function kindOf({ organizationId, type }: ImportLine['record']): string {
  return `${organizationId} ${type}`;
}
