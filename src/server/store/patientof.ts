import sql from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import { type JsonRecord, linkColumn, linkInJson } from './layout.ts';
import type { Reader } from './store.ts';

/** Fields that link a record to the patient whose data it is. */
const DIRECT = ['patient', 'ownerPatient'] as const;

/** Fields that link it to what is a patient's itself, and the kind of that. */
const THROUGH = { ownerPerioExam: 'PerioExam', insuranceClaim: 'InsuranceClaim' } as const;

/** How the patient of a resource's records is found; both are empty for what is no patient's. */
function routesOf({ fields }: Resource) {
  const has = (name: string) => Object.hasOwn(fields, name);
  const direct = DIRECT.filter(has);
  const through = Object.entries(THROUGH).filter(([name]) => !direct.includes('patient') && has(name));
  return { direct, through };
}

const columns = new Map<Resource, string>();

/** SQL of the patient whose data a record `r` of a resource is; NULL for what is nobody's. */
export function patientColumn(resource: Resource): string {
  const known = columns.get(resource) ?? columnOf(resource);
  columns.set(resource, known);
  return known;
}

function columnOf(resource: Resource): string {
  if (resource.name === 'patients') return 'r.id';
  const { direct, through } = routesOf(resource);
  const idOf = (link: string) => linkColumn(resource, 'r', link);
  const found = [
    ...direct.map(idOf),
    ...through.map(
      ([link, type]) =>
        `(SELECT ${linkInJson('o', 'patient')} FROM reference_records o
          WHERE o.org = r.org AND o.type = '${type}' AND o.id = ${idOf(link)})`,
    ),
  ];
  if (found.length > 1) return `COALESCE(${found.join(', ')})`;
  return found[0] ?? 'CAST(NULL AS BIGINT)';
}

type Linked = { readonly id?: unknown } | null | undefined;

/** The patient whose data a record of the wire is, as `patientColumn` finds them; null for what is nobody's. */
export async function patientOf(
  read: Reader,
  org: number,
  resource: Resource,
  record: JsonRecord,
): Promise<number | null> {
  const own = directPatientOf(resource, record);
  if (own !== null) return own;
  for (const [link, type] of routesOf(resource).through) {
    const id = (record[link] as Linked)?.id;
    if (typeof id !== 'number') continue;
    const row = await read.get<{ json: string }>(
      sql`SELECT json FROM reference_records WHERE org = ${org} AND type = ${type} AND id = ${id}`,
    );
    return row === undefined ? null : ((JSON.parse(row.json) as { patient: { id: number } }).patient.id ?? null);
  }
  return null;
}

/** The patient that a record itself names: for a patient their own id. */
export function directPatientOf({ name }: Pick<Resource, 'name'>, record: JsonRecord): number | null {
  const links = name === 'patients' ? [record.id] : DIRECT.map((field) => (record[field] as Linked)?.id);
  return links.find((id) => typeof id === 'number') ?? null;
}
