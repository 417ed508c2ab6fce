import sql from 'sql-template-tag';
import type { Resource } from '../../catalog/define.ts';
import { isOrganizationId } from '../../catalog/fields/composites.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { patients } from '../../catalog/resources/patients.ts';
import type { Organization } from '../organizations.ts';
import { type FoundLink, linksOf } from '../references.ts';
import { blankRecord, emptyValue, mergeValues } from '../rendering.ts';
import { forgetTransaction } from '../reports/aging/ledger.ts';
import { filedUnder } from '../reports/filing.ts';
import type { Draft } from '../resources/behaviour.ts';
import { behaviourOf } from '../resources/behaviours.ts';
import type { Service } from '../service.ts';
import type { JsonRecord } from '../store/layout.ts';
import { directPatientOf } from '../store/patientof.ts';
import { putRecord, removeRecord } from '../store/records.ts';
import type { Statement, Transaction } from '../store/store.ts';
import type { ChangeLog } from './changes.ts';
import { noteCorrection } from './corrections.ts';
import type { CredentialLines } from './credentials.ts';
import { type ImportedFiles, importDocument, removeDocument } from './documents.ts';
import type { ImportedIds } from './ids.ts';
import type { RecordKind } from './kinds.ts';
import { type ImportLine, missingField, type ProblemList } from './lines.ts';
import { type LocationCache, readWithLocalTimes, readWithoutLocalTimes, requireOperatory } from './linevalues.ts';
import type { LinkBook } from './links.ts';
import type { KnownOrganization, Organizations } from './organizations.ts';

/** What an import carries from line to line. */
export interface ImportState extends LineState {
  readonly tx: Transaction;
  readonly files: ImportedFiles;
  readonly now: string;
  readonly organizations: Organizations;
  readonly credentials: CredentialLines;
  readonly links: LinkBook;
  /** Undefined: changes are not published. */
  readonly changes: ChangeLog | undefined;
  readonly ids: ImportedIds;
  /** Patients whose list of referred patients must be rebuilt, by organization. */
  readonly referrers: Map<number, Set<number>>;
  readonly counts: Record<string, number>;
  deleted: number;
}

/** What the lines before a line have left, and what it is read with. */
export interface LineState {
  readonly service: Service;
  readonly problems: ProblemList;
  readonly organizations: Pick<Organizations, 'known' | 'find'>;
  readonly locations: LocationCache;
  /** All lines have been read: a location that is still unknown stays so. */
  last: boolean;
}

/** A line of a record that belongs to an organization; without values it deletes the record. */
export interface RecordLine {
  readonly organization: KnownOrganization;
  readonly id: number;
  readonly values: Record<string, unknown> | undefined;
}

/** Reads a line of a kind that belongs to an organization; undefined when it has problems. Throws `LocationUnknown`. */
export async function readRecord(
  state: LineState,
  kind: RecordKind,
  { line, record }: ImportLine,
): Promise<RecordLine | undefined> {
  const { organizationId } = record;
  const id = asId(record.id);
  if (id === undefined) state.problems.add(line, 'id', 'id must be a positive integer.');
  const named = typeof organizationId === 'string' && isOrganizationId(organizationId);
  if (!named) {
    const wrong = organizationId == null ? 'is required' : 'must be 1 to 64 letters, digits, _ and -';
    state.problems.add(line, 'organizationId', `organizationId ${wrong}.`);
  }
  if (id === undefined || !named) return undefined;
  // What is cached is not awaited: most lines need what the line before them needed.
  const organization =
    state.organizations.known(organizationId) ?? (await state.organizations.find(organizationId, line));
  if (record.deleted === true) return { organization, id, values: undefined };
  const { context, values } =
    readWithoutLocalTimes(state, kind, record) ?? (await readWithLocalTimes(state, kind, organization, record));
  if (kind.type === 'AppointmentV1') await requireOperatory(state, organization, values);
  for (const name of kind.needed) {
    if (record[name] == null) context.problems.push(missingField(name));
  }
  state.problems.addAll(line, context.problems);
  return context.problems.length > 0 ? undefined : { organization, id, values };
}

/** Imports one line of a kind that belongs to an organization. */
export async function importRecord(state: ImportState, kind: RecordKind, entry: ImportLine): Promise<void> {
  const { line } = entry;
  const read = await readRecord(state, kind, entry);
  if (read === undefined) return;
  const { organization, id, values } = read;
  const { org } = organization;
  if (values === undefined) return remove(state, kind, org, id, line);
  const noted = state.ids.note(org, kind.type, id, kind.resource);
  const fresh = typeof noted === 'boolean' ? noted : await noted;
  const own = ownLinks(kind, id, values);
  if (!state.links.allExist(org, own)) await state.links.note(org, line, own);
  if (kind.resource !== undefined) await state.changes?.note(org, kind.resource, id, fresh);
  state.locations.evict(org, kind.type, id);
  state.changes?.count(org);
  if (kind.resource === undefined) await putReference(state, org, kind, id, values, fresh);
  else await putResource(state, kind, organization, id, values, line, fresh);
  state.counts[kind.type] = (state.counts[kind.type] ?? 0) + 1;
}

/** The links of a record to others. */
export function ownLinks(kind: RecordKind, id: number, values: Record<string, unknown>): FoundLink[] {
  return linksOf(kind.fields, values).filter((link) => link.target !== kind.type || link.id !== id);
}

async function putReference(
  state: ImportState,
  org: number,
  kind: RecordKind,
  id: number,
  values: Record<string, unknown>,
  fresh: boolean,
): Promise<void> {
  const { tx, links, changes } = state;
  if (!fresh) await noteStored(state, org, kind, id);
  changes?.changed(org, directPatientOf({ name: kind.type }, values));
  await tx.run(upsertReference(org, kind, id, values));
  links.noteWritten(org, kind.type, id);
}

/** The statement that writes a record of a kind that is only linked to. */
export function upsertReference(org: number, { type, fields }: RecordKind, id: number, values: JsonRecord): Statement {
  const empty = Object.fromEntries(Object.keys(fields).map((name) => [name, emptyValue(fields, name)]));
  const record = { ...empty, ...values, id };
  return sql`INSERT INTO reference_records (org, type, id, filed_under, json)
    VALUES (${org}, ${type}, ${id}, ${filedUnder(type, record)}, ${JSON.stringify(record)})
    ON CONFLICT (org, type, id) DO UPDATE SET filed_under = excluded.filed_under, json = excluded.json`;
}

/** Notes whose data a stored record is that is only linked to, before it is replaced or deleted. */
async function noteStored(state: ImportState, org: number, { type, fields }: RecordKind, id: number): Promise<void> {
  if (state.changes === undefined || !Object.hasOwn(fields, 'patient')) return;
  const row = await state.tx.get<{ json: string }>(
    sql`SELECT json FROM reference_records WHERE org = ${org} AND type = ${type} AND id = ${id}`,
  );
  if (row !== undefined) state.changes.changed(org, directPatientOf({ name: type }, JSON.parse(row.json)));
}

async function putResource(
  state: ImportState,
  kind: RecordKind,
  organization: Organization,
  id: number,
  values: Record<string, unknown>,
  line: number,
  fresh: boolean,
): Promise<void> {
  const resource = kind.resource as NonNullable<RecordKind['resource']>;
  if (resource.type === 'DocumentV1') return importDocument(state, organization, id, values, line);
  const behaviour = behaviourOf(resource);
  const draft = { ...draftOf(state, resource, organization, id, values), fresh };
  const { problems } = draft;
  behaviour.check?.(draft);
  await behaviour.complete?.(state.tx, draft);
  state.problems.addAll(line, problems);
  if (problems.length > 0) return;
  if (resource.type === 'PatientV1') await noteReferrers(state, organization.org, id, draft.after);
  await putRecord(
    state.tx,
    organization.org,
    resource,
    draft.after,
    behaviour.ownValues?.(draft),
    fresh ? null : undefined,
  );
  await behaviour.indexed?.(state.tx, draft);
  state.links.noteWritten(organization.org, kind.type, id);
  if (draft.after.previousTransaction != null) await noteCorrection(state.tx, organization.org, draft.after);
}

const NONE: ReadonlySet<string> = new Set();

/** The draft of a record that a line gives; it replaces the whole record. */
export function draftOf(
  { service, now, locations }: Pick<ImportState, 'service' | 'now' | 'locations'>,
  resource: Resource,
  organization: Organization,
  id: number,
  values: Record<string, unknown>,
): Draft {
  const blank = blankRecord(resource);
  const after = Object.assign(mergeValues(resource.fields, blank, values), { id });
  if (Object.hasOwn(blank, 'lastModified')) blank.lastModified = values.lastModified ?? now;
  return {
    service,
    organization,
    actor: undefined,
    before: undefined,
    row: undefined,
    after,
    given: NONE,
    problems: [],
    locations,
    imported: values,
  };
}

/** Notes the patients whose `referredPatients` a patient's line, or its deletion, may change: itself included. */
async function noteReferrers(
  state: ImportState,
  org: number,
  id: number,
  after?: Readonly<Record<string, unknown>>,
): Promise<void> {
  const before = (await state.ids.had(org, patients)) ? await storedReferrer(state.tx, org, id) : undefined;
  const claimed = ((after?.referredPatients as readonly unknown[] | undefined) ?? []).length > 0;
  const noted = [
    before?.referrer,
    (after?.referredByPatient as { id: number } | null | undefined)?.id,
    before !== undefined || claimed ? id : undefined,
  ];
  const referrers = state.referrers.get(org) ?? new Set<number>();
  for (const referrer of noted) if (referrer != null) referrers.add(referrer);
  state.referrers.set(org, referrers);
}

function storedReferrer(tx: Transaction, org: number, id: number): Promise<{ referrer: number | null } | undefined> {
  return tx.get(sql`SELECT referred_by_patient_id AS referrer FROM patients WHERE org = ${org} AND id = ${id}`);
}

async function remove(state: ImportState, kind: RecordKind, org: number, id: number, line: number): Promise<void> {
  await state.links.flush();
  if (kind.type === 'PatientV1') await noteReferrers(state, org, id);
  if (kind.resource !== undefined) await state.changes?.note(org, kind.resource, id);
  if (kind.type === 'DocumentV1') await removeDocument(state, org, id);
  else if (kind.resource !== undefined) await removeRecord(state.tx, org, kind.resource, id);
  else {
    await noteStored(state, org, kind, id);
    await state.tx.run(sql`DELETE FROM reference_records WHERE org = ${org} AND type = ${kind.type} AND id = ${id}`);
  }
  if (kind.type === 'Transaction') await forgetTransaction(state.tx, org, id);
  state.changes?.count(org);
  state.links.noteDeleted(org, kind.type, id, line);
  state.locations.evict(org, kind.type, id);
  await state.ids.note(org, kind.type, id, kind.resource);
  state.deleted++;
}
