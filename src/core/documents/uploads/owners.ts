import { operationOf } from '../../../catalog/catalog.ts';
import { EXIT, FAILURES } from '../../../catalog/failures.ts';
import { formatFilter, type RawTerm } from '../../../catalog/filter/grammar.ts';
import { patients } from '../../../catalog/resources/patients.ts';
import { Failure } from '../../failure.ts';
import { walkPages } from '../../pages/walk.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { PlannedUpload } from './plan.ts';

/** Patients that one request asks for: their ids stay well inside the length of a URL. */
const BATCH = 100;

/** A plan whose owners were looked up; `note` says why they could not be. */
export interface OwnedPlan {
  readonly plan: readonly PlannedUpload[];
  readonly note?: string;
}

/**
 * Refuses rows whose patient does not exist (exit 4), looked up 100 at a time; connects only where there are any. A token that may not read patients
 * leaves that to the server, as do perio exams, which no request of the API lists. Throws what a request throws.
 */
export async function refuseUnknownOwners(
  plan: readonly PlannedUpload[],
  connect: () => Promise<ApiClient>,
  signal?: AbortSignal,
): Promise<OwnedPlan> {
  const wanted = [...new Set(plan.flatMap((planned) => patientOf(planned) ?? []))];
  if (wanted.length === 0) return { plan };
  const client = await connect();
  try {
    const known = await knownPatients(wanted, client, signal);
    return { plan: plan.map((planned) => (isUnknown(planned, known) ? refused(planned) : planned)) };
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status !== 403) throw cause;
    return { plan, note: 'The token may not read patients, so the server will tell which of them do not exist.' };
  }
}

/** Asks without a location, as the specification allows, and for all of them where the server requires one (D12). */
async function knownPatients(ids: readonly string[], client: ApiClient, signal?: AbortSignal): Promise<Set<string>> {
  try {
    return await existing(ids, [], client, signal);
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || cause.status !== 400) throw cause;
    return existing(ids, [{ key: 'preferredLocation.id', operator: '->', values: ['ALL'] }], client, signal);
  }
}

async function existing(
  ids: readonly string[],
  more: readonly RawTerm[],
  client: ApiClient,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const known = new Set<string>();
  for (let start = 0; start < ids.length; start += BATCH) {
    const values = ids.slice(start, start + BATCH);
    const filter = formatFilter([{ key: 'id', operator: '->', values }, ...more]);
    const asked = { filter, fields: ['id'], pageSize: BATCH, limit: values.length, signal };
    for await (const { rows } of walkPages(client, operationOf(patients, 'list'), asked)) {
      for (const { id } of rows) known.add(String(id));
    }
  }
  return known;
}

function patientOf(planned: PlannedUpload): string | undefined {
  if (planned.kind !== 'ready') return undefined;
  const { owner } = planned.upload;
  return owner.field === 'ownerPatient' ? owner.id : undefined;
}

function isUnknown(planned: PlannedUpload, known: ReadonlySet<string>): boolean {
  const patient = patientOf(planned);
  return patient !== undefined && !known.has(patient);
}

function refused(planned: PlannedUpload): PlannedUpload {
  const { row } = planned;
  const description = `There is no patient ${patientOf(planned)}.`;
  const failure = new Failure(`${row.file}: ${description}`, {
    code: 'record.not_found',
    exitCode: EXIT.notFound,
    items: [{ code: 'record.not_found', title: FAILURES['record.not_found'].title, description, source: 'patient' }],
    hint: 'Check the id and the organization: molar patients list finds patients by name.',
  });
  return { kind: 'refused', row, failure };
}
