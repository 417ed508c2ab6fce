export type Fields = Readonly<Record<string, unknown>>;

/** A record as it is stored: ids are numbers, instants `YYYY-MM-DDTHH:mm:ss.sssZ`, absent values null. */
export interface Stored {
  readonly id: number;
  /** Not shown to anybody: milliseconds. */
  readonly created: number;
  readonly record: Fields;
}

/** The records of one resource, each with an id of its own. */
export class Shelf {
  private readonly records = new Map<number, Stored>();
  private sorted: readonly Stored[] | undefined;

  put(stored: Stored): void {
    this.records.set(stored.id, stored);
    this.sorted = undefined;
  }

  get(id: number): Stored | undefined {
    return this.records.get(id);
  }

  remove(id: number): void {
    this.records.delete(id);
    this.sorted = undefined;
  }

  /** By ascending id. */
  all(): readonly Stored[] {
    this.sorted ??= [...this.records.values()].sort((a, b) => a.id - b.id);
    return this.sorted;
  }
}

export const RESOURCES = [
  'appointmenthistories',
  'appointments',
  'documents',
  'events',
  'imageattachments',
  'missedappointments',
  'patientinsuranceplans',
  'patients',
  'scheduletemplatereasons',
  'transactions',
  'transactiontags',
] as const;

export type Resource = (typeof RESOURCES)[number];

/** Resources with a list that needs no filter of the user. */
export const LISTED = [
  'documents',
  'patients',
  'transactiontags',
  'transactions',
  'appointmenthistories',
  'missedappointments',
  'patientinsuranceplans',
  'events',
] as const satisfies readonly Resource[];

export interface Place {
  readonly id: number;
  readonly zone: string;
}

export interface Person {
  readonly id: number;
  readonly isActive: boolean;
  readonly isNonPersonEntity: boolean;
}

export interface Operatory {
  readonly id: number;
  readonly location: number;
}

/** What a guarantor owes at a location. `transactions`: how many of the report's transactions are theirs. */
export interface Owing {
  readonly location: number;
  readonly guarantor: number;
  readonly transactions: number;
  readonly report: Fields;
}

/** Everything that the service knows. */
export interface Practice {
  readonly organization: string;
  readonly created: number;
  readonly zone: string;
  readonly locations: readonly Place[];
  readonly providers: readonly Person[];
  readonly operatories: readonly Operatory[];
  readonly perioExams: readonly number[];
  readonly owing: readonly Owing[];
  readonly shelves: Readonly<Record<Resource, Shelf>>;
  /** Content of documents by `guidName`. */
  readonly files: Map<string, Buffer>;
  /** What was set as billing types, by patient. */
  readonly billingTypes: Map<number, unknown>;
}
