import { type ReferenceRecord, referenceRecord } from '../references.ts';
import type { PlaceFinder } from '../resources/behaviour.ts';
import type { Transaction } from '../store/store.ts';

/** Places that are remembered; a group has some hundreds of locations. */
const REMEMBERED = 10_000;

/** Locations and operatories as the import has left them so far: most lines ask for one of a few. */
export class Places implements PlaceFinder {
  private readonly known = new Map<string, ReferenceRecord | undefined>();
  private readonly tx: Transaction;

  constructor(tx: Transaction) {
    this.tx = tx;
  }

  async find(
    org: number,
    type: 'Location' | 'Operatory',
    id: number | undefined,
  ): Promise<ReferenceRecord | undefined> {
    if (id === undefined) return undefined;
    const name = nameOf(org, type, id);
    if (!this.known.has(name)) {
      if (this.known.size >= REMEMBERED) this.known.clear();
      this.known.set(name, await referenceRecord(this.tx, org, type, id));
    }
    return this.known.get(name);
  }

  /** What a line writes, or deletes, is read again. */
  forget(org: number, type: string, id: number): void {
    if (type === 'Location' || type === 'Operatory') this.known.delete(nameOf(org, type, id));
  }
}

function nameOf(org: number, type: string, id: number): string {
  return `${org} ${type} ${id}`;
}
