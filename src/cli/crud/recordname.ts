import { operationOf, pathOf } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { patients } from '../../catalog/resources/patients.ts';
import { Failure } from '../../core/failure.ts';
import { locationField } from '../../core/names/namecolumns.ts';
import { type LocalClock, minuteText } from '../../core/output/localclock.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import type { Row } from '../../core/pages/page.ts';
import type { ApiClient } from '../../core/transport/client.ts';

/** Fields by which people know a record, whose it is, and when it is. */
const CALLED = ['name', 'title', 'tagText'];
const PATIENTS = ['patient', 'ownerPatient'];
const TIMES = ['start', 'userDefinedDate'];

/**
 * What a record is called, whose it is and when, for a question about it: `Smith, Ann, 2026-11-24 08:00`; undefined
 * where the service does not say. Times are those of the record's clock. Throws only the reason of the signal.
 */
export async function recordName(
  client: ApiClient,
  resource: Resource,
  id: number,
  { clockOf, signal }: { readonly clockOf: (record: Row) => LocalClock; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const known = [...CALLED, ...PATIENTS, ...TIMES].filter((field) => field in resource.fields);
  const where = locationField(resource.fields) ?? [];
  const record = await read(client, resource, id, ['id', ...known, where].flat(), signal);
  if (record === undefined) return undefined;
  const values = known.map(async (field) => {
    const value = record[field];
    if (PATIENTS.includes(field)) return patientName(client, value, signal);
    if (typeof value !== 'string') return undefined;
    return resource.fields[field]?.kind.name === 'dateTime' ? minuteText(value, clockOf(record)) : value;
  });
  const texts = (await Promise.all(values)).filter((text) => text !== undefined && text !== '');
  return texts.length === 0 ? undefined : terminalText(texts.join(', '));
}

async function patientName(client: ApiClient, link: unknown, signal: AbortSignal): Promise<string | undefined> {
  if (!isPlainObject(link)) return undefined;
  const patient = await read(client, patients, Number(link.id), ['id', 'lastName', 'firstName'], signal);
  return patient === undefined ? `patient ${link.id}` : `${patient.lastName}, ${patient.firstName}`;
}

/** Some fields of a record; undefined where they cannot be had: the question works without, and what is wrong shows later. */
async function read(client: ApiClient, resource: Resource, id: number, fields: readonly string[], signal: AbortSignal) {
  const path = pathOf(operationOf(resource, 'get'), id);
  const query = { responseFields: fields.join(',') };
  try {
    const { data } = await client.request({ method: 'GET', path, query, signal });
    return isPlainObject(data) ? (data as Row) : undefined;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}
