import type { Organization } from '../../organizations.ts';
import { PatientIds, type TellablePatients } from '../patientids.ts';
import type { ImportSummary } from '../reading.ts';

/** An organization of an import, by its key in the store and that of its staged lines, which is below 0 while it has none. */
export interface PlannedOrganization extends Organization {
  readonly staged: number;
  /** It is made by the import, and nobody finds it before all of its records are there. */
  readonly isNew: boolean;
  /** Lines about its records. */
  readonly lines: number;
}

/** What is decided of an import, before anything of it is published. */
export interface Plan extends ImportSummary {
  /** The time of the import: UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
  /** Who imports, as the audit log names them. */
  readonly who: string;
  /** Fingerprint of the schema of the process that decided: another one may not know all that is staged. */
  readonly schema: string;
  /** Maximum pixels of an image at the decision. */
  readonly imagePixels: number;
  readonly organizations: readonly PlannedOrganization[];
  /** Organizations to be deleted. */
  readonly removed: readonly Organization[];
}

/** The last line that is published: its organization as it is staged, its step, and its number there. */
export interface Position {
  readonly org: number;
  readonly step: number;
  readonly seq: number;
}

/** Before all lines: organizations without a key are staged below 0. */
export const BEGINNING: Position = { org: Number.MIN_SAFE_INTEGER, step: 0, seq: 0 };

/** What has been published so far, for the entries of the audit log. */
export class Tally {
  private readonly changes = new Map<string, { readonly org: number; readonly operation: string; count: number }>();
  private readonly patients = new Map<number, PatientIds>();

  /** Adds a change of a record, such as `patients.create`. */
  add(org: number, operation: string): void {
    const name = `${org} ${operation}`;
    const counted = this.changes.get(name) ?? { org, operation, count: 0 };
    counted.count++;
    this.changes.set(name, counted);
  }

  /** Adds a patient whose data was changed; null for nobody. */
  changed(org: number, patient: number | null): void {
    if (patient === null) return;
    const known = this.patients.get(org) ?? new PatientIds();
    this.patients.set(org, known);
    known.add(patient);
  }

  /** The changes by organization and operation. */
  operations(): { readonly org: number; readonly operation: string; readonly count: number }[] {
    return [...this.changes.values()];
  }

  /** Whose data was changed, as an entry of the audit log tells of it. */
  told(org: number): TellablePatients {
    return (this.patients.get(org) ?? new PatientIds()).told();
  }

  toText(): string {
    const patients = [...this.patients].map(([org, ids]) => [org, ids.kept()]);
    return JSON.stringify({ changes: this.operations(), patients });
  }

  /** Reads what `toText` has made. */
  static of(text: string): Tally {
    const tally = new Tally();
    const { changes, patients } = JSON.parse(text) as {
      changes: { org: number; operation: string; count: number }[];
      patients: [number, ReturnType<PatientIds['kept']>][];
    };
    for (const change of changes) tally.changes.set(`${change.org} ${change.operation}`, change);
    for (const [org, kept] of patients) tally.patients.set(org, PatientIds.of(kept));
    return tally;
  }
}
