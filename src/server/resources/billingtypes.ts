import { isDeepStrictEqual } from 'node:util';
import sql, { join } from 'sql-template-tag';
import { operationOf } from '../../catalog/catalog.ts';
import { type Problem, Refusal, refusal } from '../../catalog/failures.ts';
import type { Link } from '../../catalog/fields/composites.ts';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { readFields } from '../../catalog/record.ts';
import { patients } from '../../catalog/resources/patients.ts';
import { nowOf } from '../clock.ts';
import { disclose } from '../disclosing.ts';
import { auditUnchanged, recordChange } from '../engine/writing.ts';
import { checkLinks } from '../references.ts';
import { notFound, pathIdOf, readContext } from '../requests.ts';
import type { Handler, OperationRequest, OperationResponse } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord } from '../store/records.ts';
import type { Reader } from '../store/store.ts';

type PatientRecord = JsonRecord & { readonly id: number; readonly billingTypes: readonly Link[] };

/** GET `/patients/{id}/billingtypes` (D22). */
export const billingTypesListHandler: Handler = async (request) => {
  const id = pathIdOf(request, patients);
  const { read } = request.service.store;
  const patient = await patientRecord(request, read, id);
  disclose(request, [id], [id]);
  return items(request, read, patient.billingTypes);
};

/** POST `/patients/{id}/billingtypes`: replaces the whole list; duplicates are folded (D22). */
export const billingTypesSetHandler: Handler = async (request) => {
  const { ids, problems } = readIds(request);
  const links = ids.map((entry) => ({ target: 'BillingType', id: entry.id, at: entry.at }));
  await checkLinks(request.service.store.read, request.organization, links, problems);
  if (problems.length > 0) throw new Refusal(problems);
  const id = pathIdOf(request, patients);
  const billingTypes = linksTo(ids.map((entry) => entry.id));
  return request.service.store.write(async (tx) => {
    const patient = await patientRecord(request, tx, id);
    if (!isDeepStrictEqual(linksTo(patient.billingTypes.map((link) => link.id)), billingTypes)) {
      const { organization, actor } = request;
      const at = nowOf(request.service);
      const changed = { ...patient, billingTypes, lastModified: at };
      await putRecord(tx, organization.org, patients, changed, {}, patient);
      await recordChange(tx, { organization, actor, resource: patients, before: patient, after: changed, at });
    } else {
      await auditUnchanged(tx, request, patients, patient);
    }
    const answer = await items(request, tx, billingTypes);
    await request.storeResponse(tx, answer);
    return answer;
  }, request.organization.org);
};

/** A set of links in the order in which they are shown: by id. */
function linksTo(ids: readonly number[]): Link[] {
  return [...new Set(ids)].sort((a, b) => a - b).map((id) => ({ id }));
}

function readIds(request: OperationRequest): { ids: { id: number; at: string }[]; problems: Problem[] } {
  if (!Array.isArray(request.body))
    throw refusal('body.shape', 'body', 'The body must be an array of links: [{"id": 5}].');
  const fields = operationOf(patients, 'billingtypesSet').body ?? {};
  const context = readContext(request, 'create');
  const ids = request.body.flatMap((entry, index) => {
    const at = `[${index}]`;
    if (!isPlainObject(entry)) {
      context.problems.push({
        code: 'field.type',
        source: at,
        description: `${at} must be a link, written {"id": 5}.`,
      });
      return [];
    }
    const { id } = readFields(fields, entry, context, `${at}.`);
    return typeof id === 'number' ? [{ id, at }] : [];
  });
  return { ids, problems: context.problems };
}

async function patientRecord(request: OperationRequest, read: Reader, id: number): Promise<PatientRecord> {
  const row = await findRecord(read, request.organization, patients, id);
  if (row === undefined) throw notFound(patients.one, id);
  return JSON.parse(row.json) as PatientRecord;
}

async function items(request: OperationRequest, read: Reader, links: readonly Link[]): Promise<OperationResponse> {
  if (links.length === 0) return { data: '[]' };
  const rows = await read.all<{ json: string }>(
    sql`SELECT json FROM reference_records WHERE org = ${request.organization.org} AND type = 'BillingType'
      AND id IN (${join(links.map((link) => link.id))}) ORDER BY id`,
  );
  const records = rows.map((row) => JSON.parse(row.json) as { id: number; name: string });
  return { data: JSON.stringify(records.map(({ id, name }) => ({ id, type: 'BillingTypeV1', name }))) };
}
