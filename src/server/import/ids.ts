import sql, { raw } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import { tableOf } from '../store/layout.ts';
import { raiseSequence } from '../store/sequences.ts';
import type { Transaction } from '../store/store.ts';

interface Known {
  readonly org: number;
  readonly type: string;
  /** Highest id that a line has named. */
  highest: number;
  /** Whether there were records when the first line named one. */
  readonly had: boolean;
}

/** The ids that the lines of an import name, by organization and type. */
export class ImportedIds {
  private readonly known = new Map<number, Map<string, Known>>();
  private readonly tx: Transaction;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  /**
   * Notes an id. Answers whether nothing of such a record can be in the store: there was none when the import began, and
   * each line so far has named a lower id. Most imports fill an empty store in the order of ids; they are spared the look.
   */
  async note(org: number, type: string, id: number, resource?: Resource): Promise<boolean> {
    return noteIn(await this.of(org, type, resource), id);
  }

  /** As `note`, at once; undefined for the first id of a type, before which the store must be asked. */
  noteKnown(org: number, type: string, id: number): boolean | undefined {
    const known = this.known.get(org)?.get(type);
    return known && noteIn(known, id);
  }

  /** Whether the organization had records of a resource before the import; ask before the first of them is written. */
  async had(org: number, resource: Resource): Promise<boolean> {
    return (await this.of(org, resource.type, resource)).had;
  }

  /** Keeps all ids from ever being given again. */
  async settle(): Promise<void> {
    for (const types of this.known.values()) {
      for (const { org, type, highest } of types.values()) {
        if (highest > 0) await raiseSequence(this.tx, org, type, highest);
      }
    }
  }

  /** Organizations that had no records of a type, of those whose lines have named some. */
  begun(type: string): number[] {
    return [...this.known].flatMap(([org, types]) => (types.get(type)?.had === false ? [org] : []));
  }

  private async of(org: number, type: string, resource: Resource | undefined): Promise<Known> {
    let types = this.known.get(org);
    if (types === undefined) {
      types = new Map();
      this.known.set(org, types);
    }
    let known = types.get(type);
    if (known === undefined) {
      known = { org, type, highest: 0, had: resource === undefined || (await this.hasRecords(org, resource)) };
      types.set(type, known);
    }
    return known;
  }

  private async hasRecords(org: number, resource: Resource): Promise<boolean> {
    const row = await this.tx.get(sql`SELECT 1 AS found FROM ${raw(tableOf(resource))} WHERE org = ${org} LIMIT 1`);
    return row !== undefined;
  }
}

function noteIn(known: Known, id: number): boolean {
  if (id <= known.highest) return false;
  known.highest = id;
  return !known.had;
}
