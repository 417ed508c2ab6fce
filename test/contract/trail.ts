import type { WireRecord } from '../support/calls.ts';
import { CLAIMS, EXAMS, PATIENTS } from '../support/ids.ts';
import type { TestService } from '../support/service.ts';

/** A row of `audit_entries` as the database has it, its lists written out. */
export interface Entry {
  readonly id: number;
  readonly org: number | null;
  readonly at: string;
  readonly who: string;
  readonly address: string | null;
  readonly request_id: string | null;
  readonly operation: string;
  readonly record_count: number | null;
  readonly filter_keys: string | null;
  readonly via: string | null;
  readonly status: number | null;
  readonly client: string | null;
  readonly covers_all: number | null;
  readonly ids: readonly unknown[];
  readonly patients: readonly unknown[];
}

/** Every entry behind an id that is in the database at this moment and has its place, read as anybody with SQL reads it. */
export async function storedEntries({ service }: Pick<TestService, 'service'>, after = 0): Promise<Entry[]> {
  const text = `SELECT * FROM audit_entries WHERE id > ${after} ORDER BY id`;
  await service.store.sequenceEntries();
  const rows = await service.store.read.all<Omit<Entry, 'ids' | 'patients'> & Record<'ids' | 'patients', string>>({
    sql: text,
    text,
    values: [],
  });
  return rows.map((row) => ({ ...row, ids: writtenOut(row.ids), patients: writtenOut(row.patients) }));
}

/** Every id of an exact list. */
export function writtenOut(list: string | null): unknown[] {
  if (list === null) return [];
  return (JSON.parse(list) as unknown[]).flatMap((member) => {
    if (!Array.isArray(member)) return [member];
    const [first, last] = member as [number, number];
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** The entries that a piece of work adds, without a wait after it: what was noted before it is written before it. */
export async function entriesOf(service: TestService, work: () => Promise<unknown>): Promise<Entry[]> {
  const { reads, store } = service.service;
  await reads.flush();
  await store.sequenceEntries();
  const text = 'SELECT MAX(id) AS last FROM audit_entries';
  const end = await store.read.get<{ last: number | null }>({ sql: text, text, values: [] });
  await work();
  return storedEntries(service, end?.last ?? 0);
}

/** Whose the exams and claims of the test practice are; no answer of the API says it. */
const OWNERS = new Map<unknown, number>([
  [EXAMS.one, PATIENTS.ann],
  [EXAMS.two, PATIENTS.bob],
  [CLAIMS.sent, PATIENTS.ann],
  [CLAIMS.paid, PATIENTS.bob],
]);

/** Whose data records are, ascending and each once, as the test practice was imported. */
export function whose(resource: string, records: readonly WireRecord[]): unknown[] {
  const linked = (record: WireRecord, name: string) => (record[name] as { id: number } | null | undefined)?.id;
  const found = records.map((record) => {
    if (resource === 'patients') return record.id as number;
    const owner = linked(record, 'ownerPerioExam') ?? linked(record, 'insuranceClaim');
    return linked(record, 'patient') ?? linked(record, 'ownerPatient') ?? OWNERS.get(owner);
  });
  return ascending(found.filter((id) => id !== undefined));
}

/** Ids in ascending order, each once. */
export function ascending(ids: readonly unknown[]): unknown[] {
  return [...new Set(ids)].sort((a, b) => Number(a) - Number(b));
}
