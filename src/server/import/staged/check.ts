import sql from 'sql-template-tag';
import type { Link } from '../../../catalog/fields/composites.ts';
import { foldText } from '../../../catalog/filter/values.ts';
import type { Organization } from '../../organizations.ts';
import { type ReferenceRecord, referenceRecord } from '../../references.ts';
import type { Draft } from '../../resources/behaviour.ts';
import { behaviourOf } from '../../resources/behaviours.ts';
import { duplicateTag } from '../../resources/transactiontags.ts';
import type { Service } from '../../service.ts';
import { CredentialLines, type CredentialWrite } from '../credentials.ts';
import { DeferredLines } from '../deferredlines.ts';
import { ImportedFiles, prepareDocument } from '../documents.ts';
import type { RecordKind } from '../kinds.ts';
import { type ImportLine, type OpenSource, ProblemList } from '../lines.ts';
import { LocationCache } from '../linevalues.ts';
import { LinkBook } from '../links.ts';
import { type ImportSummary, type LineReaders, readAll } from '../reading.ts';
import { draftOf, type LineState, ownLinks, readRecord } from '../records.ts';
import { type StagedLines, stepOf } from './stagedlines.ts';
import { StagedOrganizations } from './stagedorganizations.ts';
import { stagedTargets } from './targets.ts';

/** An import without problems, all of whose records are staged. */
export interface CheckedImport extends ImportSummary {
  readonly at: string;
  readonly organizations: StagedOrganizations;
  /** Organizations to be deleted. */
  readonly removed: readonly Organization[];
  /** What lines of credentials write: kept out of the staging area, for whoever reads one can sign in. */
  readonly credentials: readonly CredentialWrite[];
}

interface CheckState extends LineState {
  readonly now: string;
  readonly lines: StagedLines;
  readonly organizations: StagedOrganizations;
  readonly links: LinkBook;
  readonly counts: Record<string, number>;
  deleted: number;
}

/** Reads an import, checks all of it and stages it; nobody notices anything. Throws `ImportRefused`. */
export async function checkImport(
  service: Service,
  lines: StagedLines,
  source: OpenSource,
  now: string,
  allowCredentials: boolean,
): Promise<CheckedImport> {
  const problems = new ProblemList();
  const state: CheckState = {
    service,
    now,
    lines,
    problems,
    organizations: new StagedOrganizations(lines, now),
    links: new LinkBook(lines, lines.name, stagedTargets(lines)),
    locations: new LocationCache((org, type, id) => findLocation(lines, org, type, id)),
    counts: {},
    deleted: 0,
    last: false,
  };
  const credentials = new CredentialLines(lines, now, problems, allowCredentials);
  await credentials.open();
  const writes: CredentialWrite[] = [];
  const readers: LineReaders = Object.assign(state, {
    record: (kind: RecordKind, entry: ImportLine) => checkRecord(state, kind, entry),
    organization: (entry: ImportLine) => state.organizations.readLine(entry, problems),
    async credential(type: string, entry: ImportLine) {
      const write = await credentials.readLine(type, entry);
      if (write !== undefined) writes.push(write);
    },
  });
  await readAll(readers, source(problems), new DeferredLines(lines, lines.name));
  await state.links.flush();
  const removed = await state.organizations.settle(problems);
  await state.links.settle(problems);
  problems.throwIfAny();
  await lines.stageConsequences();
  const { counts, deleted, organizations } = state;
  return { at: now, imported: counts, deleted, organizations, removed, credentials: writes };
}

/** Checks and stages one line of a kind that belongs to an organization. */
async function checkRecord(state: CheckState, kind: RecordKind, entry: ImportLine): Promise<void> {
  const { lines, links, organizations } = state;
  const { line } = entry;
  const { type } = kind;
  const read = await readRecord(state, kind, entry);
  if (read === undefined) return;
  const { organization, id, values } = read;
  const { org } = organization;
  const staged = { org, type, id, step: stepOf(kind), line };
  organizations.count(org);
  state.locations.evict(org, type, id);
  if (values === undefined) {
    await links.flush();
    links.noteDeleted(org, type, id, line);
    state.deleted++;
    await lines.put({ ...staged, record: null, link: null, twin: null });
    return;
  }
  const own = ownLinks(kind, id, values);
  if (!links.allExist(org, own)) await links.note(org, line, own);
  await checkRules(state, kind, organization, id, values, line);
  const link = linkOf(type, values);
  await lines.put({ ...staged, record: JSON.stringify(values), link, twin: twinOf(type, values) });
  links.noteWritten(org, type, id);
  state.counts[type] = (state.counts[type] ?? 0) + 1;
}

/** Applies the rules of a resource. */
async function checkRules(
  state: CheckState,
  { resource, type }: RecordKind,
  organization: Organization,
  id: number,
  values: Record<string, unknown>,
  line: number,
): Promise<void> {
  const { problems, service, lines } = state;
  if (resource === undefined) return;
  if (type === 'DocumentV1') {
    // What its file becomes is made again when it is published: a killed import must leave no files.
    const files = new ImportedFiles(service.files);
    await prepareDocument({ service, files, problems }, organization, id, values, line).finally(() => files.discard());
    return;
  }
  const behaviour = behaviourOf(resource);
  const draft: Draft = draftOf(state, resource, organization, id, values);
  behaviour.check?.(draft);
  if (type === 'TransactionTagV1') await checkTwin(lines, draft);
  else await behaviour.complete?.(lines, draft);
  problems.addAll(line, draft.problems);
}

/** Reports another tag with the text of this one, staged, or stored and named by no line so far (D23). */
async function checkTwin(lines: StagedLines, { organization: { org }, after, problems }: Draft): Promise<void> {
  const { id, tagType, tagText } = after;
  const staged = await lines.twinOf(org, 'TransactionTagV1', id, twin(tagType, tagText));
  const stored = await lines.get<{ id: number }>(sql`SELECT t.id FROM transactiontags t
    WHERE t.org = ${org} AND t.tag_type = ${String(tagType)} AND t.tag_text_fold = ${foldText(String(tagText))} AND t.id <> ${id}
      AND NOT EXISTS (SELECT 1 FROM import_lines s
        WHERE s.import = ${lines.name} AND s.org = t.org AND s.type = 'TransactionTagV1' AND s.id = t.id)`);
  const found = staged ?? stored;
  if (found !== undefined) problems.push(duplicateTag(found.id));
}

function twinOf(type: string, { tagType, tagText }: Record<string, unknown>): string | null {
  return type === 'TransactionTagV1' ? twin(tagType, tagText) : null;
}

function twin(tagType: unknown, tagText: unknown): string {
  return `${tagType} ${foldText(String(tagText))}`;
}

function linkOf(type: string, values: Record<string, unknown>): number | null {
  const names: Readonly<Record<string, string>> = {
    PatientV1: 'referredByPatient',
    Transaction: 'previousTransaction',
  };
  const name = names[type];
  return name === undefined ? null : ((values[name] as Link | null | undefined)?.id ?? null);
}

/** A location or an operatory as the lines so far leave it. */
async function findLocation(
  lines: StagedLines,
  org: number,
  type: string,
  id: number | undefined,
): Promise<ReferenceRecord | undefined> {
  if (id === undefined) return undefined;
  const staged = await lines.find(org, type, id);
  if (staged === undefined) return referenceRecord(lines, { org }, type, id);
  return staged.record === null ? undefined : { ...JSON.parse(staged.record), id };
}
