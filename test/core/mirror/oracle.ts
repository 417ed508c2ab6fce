import { isDeepStrictEqual } from 'node:util';
import { type Connection, openConnection } from '../../../src/sqlite/open.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Tables by resource, and the lists of their records: written by hand, so that nothing of the product says what is right. */
export const TABLES: Readonly<Record<string, string>> = {
  documents: 'documents',
  patients: 'patients',
  transactiontags: 'transaction_tags',
  transactions: 'transactions',
  appointmenthistories: 'appointment_histories',
  missedappointments: 'missed_appointments',
  patientinsuranceplans: 'patient_insurance_plans',
  events: 'events',
  appointments: 'appointments',
  imageattachments: 'image_attachments',
  scheduletemplatereasons: 'schedule_template_reasons',
};

const LISTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  documents: { tags: 'document_tags' },
  patients: {
    phones: 'patient_phones',
    billingTypes: 'patient_billing_types',
    referredPatients: 'patient_referred_patients',
  },
  transactions: {
    distributions: 'transaction_distributions',
    transactionTags: 'transaction_transaction_tags',
    reasonTags: 'transaction_reason_tags',
  },
  events: { recurrenceDays: 'event_recurrence_days' },
  patientinsuranceplans: { responsibilities: 'patient_insurance_plan_responsibilities' },
};

const IS_MONEY = /^(amount|income|met[A-Z].*|appliedAmount|.*(DeductibleMet|BenefitUsed))$/;

/** The columns of one field, as the contract has them. */
function columnsOf(name: string, value: unknown): [string, unknown][] {
  const column = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  if (IS_MONEY.test(name) || name === 'AppliedAmount')
    return [[`${column}_cents`, value === null ? null : BigInt(String(Math.round(Number(value) * 100)))]];
  // The catalog has it as text, this service as true or false.
  if (name === 'eligible') return [[column, value === null ? null : String(value)]];
  if (typeof value === 'boolean') return [[column, BigInt(value)]];
  if (typeof value === 'number') return [[column, Number.isInteger(value) ? BigInt(value) : value]];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([part, inner]) =>
      columnsOf(`${name}${part[0]?.toUpperCase()}${part.slice(1)}`, inner),
    );
  }
  return [[column, value]];
}

/** A service may send instants with or without milliseconds. */
function toSecond(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^(\d{4}-\d\d-\d\dT[\d:]{8})\.\d{3}Z$/, '$1Z') : value;
}

/** How one record differs from its rows: columns and lists, by name. */
function differences(
  resource: string,
  record: Fields,
  row: Fields,
  children: ReadonlyMap<string, readonly Fields[]>,
): string[] {
  const lists = LISTS[resource] ?? {};
  const wrong = Object.entries(record)
    .filter(([name]) => name !== 'storage' && lists[name] === undefined)
    .flatMap(([name, value]) => columnsOf(name, value))
    // An absent link has no parts to compare: its column is absent or null.
    .filter(([column, value]) => toSecond(row[column] ?? null) !== toSecond(value))
    .map(([column, value]) => `${column} is ${String(row[column])}, not ${String(value)}`);
  const wrongLists = Object.entries(lists).filter(([name, table]) => {
    const wanted = entriesOf((record[name] ?? []) as object);
    const there = (children.get(table) ?? []).map((row) => shown(Object.values(row).slice(2)));
    return !isDeepStrictEqual(there, wanted);
  });
  return [...wrong, ...wrongLists.map(([name]) => `${name} is another list`)];
}

/** What each entry of a list, or of a map, holds: its values without those that are absent, in no order. */
function entriesOf(list: object): string[][] {
  return Object.entries(list).map(([key, entry]) => {
    const values = typeof entry === 'object' ? columnsOf('', entry).map(([, value]) => value) : [entry];
    return shown(Array.isArray(list) ? values : [key, ...values]);
  });
}

function shown(values: readonly unknown[]): string[] {
  return values
    .filter((value) => value !== null)
    .map(String)
    .sort();
}

/** Reads a query: whole numbers as bigints, true and false as 1 and 0, times and dates as text. */
type Read = (query: string) => Fields[] | Promise<Fields[]>;

/** What is wrong in the table of a resource, against the records that the server has: nothing, in the best case. */
export function wrongRows(file: string, resource: string, records: readonly Fields[]): string[] {
  return reading(file, (connection) => wrongThere(connection, resource, records));
}

function wrongThere(connection: Connection, resource: string, records: readonly Fields[]): string[] {
  const read = (query: string) => connection.prepare(query).safeIntegers().all() as Fields[];
  const [table = '', ...lists] = tablesOf(resource);
  return wrongAmong(
    resource,
    records,
    read(`SELECT * FROM ${table}`),
    new Map(lists.map((list) => [list, read(`SELECT * FROM ${list}`)])),
  );
}

/** The same of several resources, at most five problems of each; those without any are left out. */
export function wrongTables(
  file: string,
  records: ReadonlyMap<string, readonly Fields[]>,
  resources: Iterable<string> = Object.keys(TABLES),
): Record<string, string[]> {
  return reading(file, (connection) => {
    const found = [...resources].map(
      (name) => [name, wrongThere(connection, name, records.get(name) ?? []).slice(0, 5)] as const,
    );
    return Object.fromEntries(found.filter(([, problems]) => problems.length > 0));
  });
}

/** The same in a database of which rows are read by `read`. */
export async function wrongRowsBy(read: Read, resource: string, records: readonly Fields[]): Promise<string[]> {
  const [table = '', ...lists] = tablesOf(resource);
  const children = new Map<string, Fields[]>();
  for (const list of lists) children.set(list, await read(`SELECT * FROM ${list}`));
  return wrongAmong(resource, records, await read(`SELECT * FROM ${table}`), children);
}

function tablesOf(resource: string): string[] {
  return [TABLES[resource] ?? '', ...Object.values(LISTS[resource] ?? {})];
}

/** Entries of lists by the id of their record, in their order. */
function grouped(entries: readonly Fields[], parent: string): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>();
  for (const entry of entries.toSorted((a, b) => Number(a.ordinal) - Number(b.ordinal))) {
    const id = String(entry[parent]);
    groups.set(id, [...(groups.get(id) ?? []), entry]);
  }
  return groups;
}

function wrongAmong(
  resource: string,
  records: readonly Fields[],
  all: readonly Fields[],
  children: ReadonlyMap<string, readonly Fields[]>,
): string[] {
  const rows = new Map(all.map((row) => [String(row.id), row]));
  const parent = `${TABLES[resource]?.replace(/ies$/, 'y').replace(/s$/, '')}_id`;
  const lists = new Map([...children].map(([name, entries]) => [name, grouped(entries, parent)] as const));
  const found: string[] = [];
  for (const record of records) {
    const id = String(record.id);
    const row = rows.get(id);
    rows.delete(id);
    if (row === undefined) {
      found.push(`${id} is missing`);
      continue;
    }
    const own = new Map([...lists].map(([name, byParent]) => [name, byParent.get(id) ?? []]));
    found.push(...differences(resource, record, row, own).map((text) => `${id}: ${text}`));
  }
  const known = new Set(all.map((row) => String(row.id)));
  const orphans = [...lists.values()].flatMap((byParent) => [...byParent.keys()].filter((id) => !known.has(id)));
  return [
    ...found,
    ...[...rows.keys()].map((id) => `${id} is there no longer`),
    ...orphans.map((id) => `${id} has entries of lists, and no row`),
  ];
}

/** Rows of a query. */
export function queried(file: string, query: string): Fields[] {
  return reading(file, (connection) => connection.prepare(query).all() as Fields[]);
}

function reading<T>(file: string, work: (connection: Connection) => T): T {
  const connection = openConnection(file, { readonly: true });
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}
