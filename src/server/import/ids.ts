import sql, { raw } from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import { tableOf } from '../store/layout.ts';
import { raiseSequence } from '../store/sequences.ts';
import type { Transaction } from '../store/store.ts';

interface TypeIds {
  /** Highest id that a line has named. */
  highest: number;
  /** Whether there were records when the first line named one. */
  readonly had: boolean;
}

/** The ids that the lines of an import name, by organization and type. */
export class ImportedIds {
  private readonly organizations = new Map<number, Map<string, TypeIds>>();

  constructor(private readonly tx: Transaction) {}

  /**
   * Notes an id; true when it must be new: no record of the type existed, and each line so far named a lower id.
   * Synchronous except for the first id of a type.
   */
  note(org: number, type: string, id: number, resource?: Resource): boolean | Promise<boolean> {
    const ids = this.organizations.get(org)?.get(type);
    return ids ? noteIn(ids, id) : this.idsOf(org, type, resource).then((first) => noteIn(first, id));
  }

  /** Whether the organization had records of a resource before the import; call it before the first of them is written. */
  async had(org: number, resource: Resource): Promise<boolean> {
    return (await this.idsOf(org, resource.type, resource)).had;
  }

  /** Reserves all ids, so that none is ever allocated again. */
  async settle(): Promise<void> {
    for (const [org, types] of this.organizations) {
      for (const [type, { highest }] of types) if (highest > 0) await raiseSequence(this.tx, org, type, highest);
    }
  }

  /** Organizations that had no records of a type, of those whose lines have named some. */
  begun(type: string): number[] {
    return [...this.organizations].flatMap(([org, types]) => (types.get(type)?.had === false ? [org] : []));
  }

  private async idsOf(org: number, type: string, resource: Resource | undefined): Promise<TypeIds> {
    const types = this.organizations.get(org) ?? new Map<string, TypeIds>();
    this.organizations.set(org, types);
    const known = types.get(type);
    if (known !== undefined) return known;
    const ids = { highest: 0, had: resource === undefined || (await this.hasRecords(org, resource)) };
    types.set(type, ids);
    return ids;
  }

  private async hasRecords(org: number, resource: Resource): Promise<boolean> {
    const row = await this.tx.get(sql`SELECT 1 AS found FROM ${raw(tableOf(resource))} WHERE org = ${org} LIMIT 1`);
    return row !== undefined;
  }
}

function noteIn(ids: TypeIds, id: number): boolean {
  if (id <= ids.highest) return false;
  ids.highest = id;
  return !ids.had;
}
