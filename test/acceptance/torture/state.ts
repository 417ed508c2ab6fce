/** A record as the API tells it. */
export type JsonRecord = Readonly<Record<string, unknown>> & { readonly id: number };

/** Tables of records that the writers change, by the domain type of their messages. */
export const TABLES = {
  PatientV1: 'patients',
  TransactionTagV1: 'transactiontags',
  DocumentV1: 'documents',
  AppointmentV1: 'appointments',
  AppointmentHistoryV1: 'appointmenthistories',
  MissedAppointmentV1: 'missedappointments',
  EventV1: 'events',
} as const;

export type Table = (typeof TABLES)[keyof typeof TABLES];

export const TABLE_NAMES: readonly Table[] = Object.values(TABLES);

export type Verb = 'create' | 'update' | 'delete';

/** What a message of the stream tells of one record. */
export interface Change {
  readonly verb: Verb;
  readonly table: Table;
  readonly id: number;
  readonly payload: JsonRecord;
}

/** All records, as the messages of the stream tell of them from the first one on. */
export class Told {
  private readonly records = new Map<Table, Map<number, JsonRecord>>(TABLE_NAMES.map((table) => [table, new Map()]));

  of(table: Table): Map<number, JsonRecord> {
    return this.records.get(table) as Map<number, JsonRecord>;
  }

  /** Takes a change over; answers what is wrong with it, given those before it. */
  take({ verb, table, id, payload }: Change): string | undefined {
    const records = this.of(table);
    const before = records.get(id);
    if ((before === undefined) !== (verb === 'create'))
      return `${verb} of ${table} ${id}, which is ${before ? '' : 'not '}there`;
    if (verb === 'delete') records.delete(id);
    else records.set(id, { ...before, ...payload });
    return undefined;
  }
}
