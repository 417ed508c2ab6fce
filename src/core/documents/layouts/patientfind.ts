import { operationOf } from '../../../catalog/catalog.ts';
import { asId } from '../../../catalog/fields/numbers.ts';
import { formatTerm } from '../../../catalog/filter/grammar.ts';
import { patients } from '../../../catalog/resources/patients.ts';
import { readComplete } from '../../pages/complete.ts';
import { countOperationOf } from '../../pages/countall.ts';
import { idOf, type Row } from '../../pages/page.ts';
import type { ApiClient } from '../../transport/client.ts';
import { UNKNOWN, type UploadRow } from '../uploads/uploadrow.ts';
import { foundBy, type KnownPatient, PatientIndex, plainId } from './patientmatch.ts';
import type { PathFacts } from './pattern.ts';

/** What finding patients needs. */
export interface PatientSource {
  readonly client: ApiClient;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called with a sentence where it cannot be proved that all patients were read (D48). */
  readonly onUnproved: (why: string) => void;
}

/** Patients of one request for ids: it stays well below the maximum length of a URL. */
const BATCH = 100;

/** Birth dates asked for one by one; with more of them the whole list is fewer requests, or hardly more. */
const MAX_BIRTH_DATES = 25;

/** Requests at a time for one list. */
const PARALLEL = 4;

/**
 * Gives each row with `facts` the patient they mean, or the reason why a person has to decide. The API compares chart
 * numbers and names letter by letter, so that it is asked for whatever may match, and the comparison is made here.
 * Throws what a request throws.
 */
export async function findOwners(
  rows: readonly UploadRow[],
  open: () => Promise<PatientSource>,
): Promise<readonly UploadRow[]> {
  const sought = rows.flatMap(({ facts }) => facts ?? []);
  if (sought.length === 0) return rows;
  const index = new PatientIndex(await candidatesFor(sought, await open()));
  return rows.map(({ facts, ...row }) => {
    if (facts === undefined) return row;
    const match = index.match(facts);
    if ('review' in match) return { ...row, patient: UNKNOWN, review: match.review };
    const { id, lastName, firstName } = match.patient;
    return { ...row, patient: id, patientName: `${lastName}, ${firstName}` };
  });
}

/** All patients that some facts may mean, each once, and others. */
async function candidatesFor(sought: readonly PathFacts[], source: PatientSource): Promise<Iterable<KnownPatient>> {
  const found = new Map<string, KnownPatient>();
  for (const filter of filtersFor(sought))
    for await (const patient of listed(filter, source)) found.set(patient.id, patient);
  return found.values();
}

/** Filters that together select the patients; undefined selects all. */
function filtersFor(sought: readonly PathFacts[]): readonly (string | undefined)[] {
  const by = (key: string) => sought.filter((facts) => foundBy(facts)[0] === key);
  const ids = [...new Set(by('id').map(({ id = '' }) => plainId(id)))].filter((id) => asId(id) !== undefined);
  const names = by('last');
  const dates = new Set(names.map(({ birthDate }) => birthDate));
  const charts = by('chartNumber').length > 0;
  const inBatches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, batch) =>
    formatTerm({ key: 'id', operator: '->', values: ids.slice(batch * BATCH, (batch + 1) * BATCH) }),
  );
  if (dates.has(undefined) || dates.size > MAX_BIRTH_DATES) return [...inBatches, undefined];
  return [
    ...inBatches,
    ...[...dates].map((date = '') => formatTerm({ key: 'dateOfBirth', operator: '==', values: [date] })),
    ...(charts ? [formatTerm({ key: 'chartNumber', operator: '.present', values: [] })] : []),
  ];
}

const FIELDS = ['id', 'lastName', 'firstName', 'preferredName', 'dateOfBirth', 'chartNumber', 'patientStatus'];
const PAGE = 500;

async function* listed(filter: string | undefined, source: PatientSource): AsyncGenerator<KnownPatient> {
  const { client, now, signal, onUnproved } = source;
  const pages = readComplete(client, operationOf(patients, 'list'), {
    ...{ filter, fields: FIELDS, pageSize: PAGE, parallel: PARALLEL, now, signal },
    count: countOperationOf(patients, filter),
    onProof: ({ unproved }) => unproved !== null && onUnproved(unproved),
  });
  for await (const { rows } of pages) yield* rows.map(patientOf);
}

function patientOf(row: Row): KnownPatient {
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    id: String(idOf(row)),
    lastName: text(row.lastName),
    firstName: text(row.firstName),
    preferredName: text(row.preferredName),
    dateOfBirth: text(row.dateOfBirth),
    chartNumber: text(row.chartNumber),
    isDuplicate: text(row.patientStatus).toUpperCase() === 'DUPLICATE',
  };
}
