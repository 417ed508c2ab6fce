import pLimit from 'p-limit';
import { operationOf, pathOf } from '../../../catalog/catalog.ts';
import { EXIT, FAILURES } from '../../../catalog/failures.ts';
import { formatFilter } from '../../../catalog/filter/grammar.ts';
import { patients } from '../../../catalog/resources/patients.ts';
import { Failure } from '../../failure.ts';
import { withLocationFallback } from '../../pages/completefilters.ts';
import { walkPages } from '../../pages/walk.ts';
import { ApiFailure } from '../../transport/apifailure.ts';
import type { ApiClient } from '../../transport/client.ts';
import type { PlannedUpload } from './plan.ts';

/** Patients looked up by one request: their ids stay well below the maximum length of a URL. */
const BATCH = 100;

/** Patients looked up one by one at the same time. */
const CONCURRENCY = 4;

/** Statuses of servers or tokens that do not allow to list patients in this way. */
const NO_LOOK_UP: readonly number[] = [400, 403, 404, 405, 408];

/** A plan whose owners were looked up; `note` says why they could not be. */
export interface OwnedPlan {
  readonly plan: readonly PlannedUpload[];
  readonly note?: string;
}

/**
 * Refuses rows whose patient does not exist (exit 4): looked up 100 at a time, and by id where the list does not have
 * them, since a server may leave out what has not changed for long. Connects only where there are any. What cannot be
 * found out is left to the server, as are perio exams, which no request of the API lists. Throws what a request throws.
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
    const listed = await listedPatients(wanted, client, signal);
    const { missing, failure } = await missingPatients(
      wanted.filter((id) => !listed.has(id)),
      client,
      signal,
    );
    const checked = plan.map((planned) => (missing.has(patientOf(planned) ?? '') ? refused(planned) : planned));
    return { plan: checked, ...(failure && { note: noteOf(failure) }) };
  } catch (cause) {
    if (!(cause instanceof ApiFailure) || !NO_LOOK_UP.includes(cause.status)) throw cause;
    return { plan, note: noteOf(cause) };
  }
}

function noteOf(failure: Failure): string {
  return failure.status === 403
    ? 'The token may not read patients, so the server will report which do not exist.'
    : `Not all patients could be looked up, so the server will report which do not exist. ${failure.message}`;
}

async function listedPatients(ids: readonly string[], client: ApiClient, signal?: AbortSignal): Promise<Set<string>> {
  const operation = operationOf(patients, 'list');
  const found = new Set<string>();
  for (let start = 0; start < ids.length; start += BATCH) {
    const values = ids.slice(start, start + BATCH);
    await withLocationFallback(
      formatFilter([{ key: 'id', operator: '->', values }]),
      operation.filters,
      async (filter) => {
        const options = { filter, fields: ['id'], pageSize: BATCH, limit: values.length, signal };
        for await (const { rows } of walkPages(client, operation, options)) {
          for (const { id } of rows) found.add(String(id));
        }
      },
    );
  }
  return found;
}

/** The patients that do not exist, and the failure of one that could not be looked up. */
async function missingPatients(ids: readonly string[], client: ApiClient, signal?: AbortSignal) {
  const missing = new Set<string>();
  let failure: Failure | undefined;
  const limit = pLimit(CONCURRENCY);
  const lookUp = async (id: string) => {
    // A failure that is not of one patient would recur for each of them.
    if (failure !== undefined) return;
    try {
      const path = pathOf(operationOf(patients, 'get'), id);
      await client.request({ method: 'GET', path, query: { responseFields: 'id' }, ...(signal && { signal }) });
    } catch (cause) {
      if (!(cause instanceof Failure) || signal?.aborted || cause.status === 401) throw cause;
      if (cause.status === 404) missing.add(id);
      else failure = cause;
    }
  };
  await Promise.all(ids.map((id) => limit(lookUp, id)));
  return { missing, failure };
}

function patientOf(planned: PlannedUpload): string | undefined {
  return planned.kind === 'ready' && planned.upload.owner.field === 'ownerPatient'
    ? planned.upload.owner.id
    : undefined;
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
