import type { Resource } from '../../catalog/define.ts';
import type { Disclosure } from '../audit/entries.ts';
import type { OperationResponse } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { patientOf } from '../store/patientof.ts';
import type { Reach } from '../store/reach.ts';
import { findRecord } from '../store/records.ts';
import type { Reader } from '../store/store.ts';
import type { Grant } from '../tokens/tokens.ts';

/** Whether a caller may see more of what it writes than its id (D57). */
export function mayRead({ scopes }: Pick<Grant, 'scopes'>): boolean {
  return scopes.includes('model:read');
}

/** The answer to a write for those who may not read: the id of the record, and nothing more (D57). */
export function idOnly({ data, ...rest }: OperationResponse, pathId: string | undefined): OperationResponse {
  const parsed = JSON.parse(data.toString()) as unknown;
  return { ...rest, data: JSON.stringify({ id: idIn(parsed, pathId) }) };
}

/** Id of the record that an answer to a write tells of: its own, or that of the record whose list was replaced. */
function idIn(data: unknown, pathId: string | undefined): number {
  return Number(pathId ?? (data as JsonRecord).id);
}

/** A stored response to a POST: what it discloses, and the same for those who may not read. */
export async function replayOf(
  read: Reader,
  reach: Reach,
  resource: Resource,
  answer: string,
  pathId: string | undefined,
): Promise<{ readonly disclosure: Disclosure; readonly idOnly: string }> {
  const body = JSON.parse(answer) as { readonly data: JsonRecord };
  const id = idIn(body.data, pathId);
  // What was answered says whose data it was, unless it was no more than an id then, or a list below a patient.
  const told = Object.keys(body.data).length > 1 && pathId === undefined;
  const row = told ? undefined : await findRecord(read, reach, resource, id);
  const patient = told ? await patientOf(read, reach.org, resource, body.data) : (row?.patient ?? null);
  return {
    disclosure: { ids: [id], patients: patient === null ? [] : [patient] },
    idOnly: JSON.stringify({ ...body, data: { id } }),
  };
}
