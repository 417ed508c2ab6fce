import type { Organization } from '../../organizations.ts';
import type { Service } from '../../service.ts';
import { type ImportedFiles, isStored, type PreparedDocument, prepareDocument, secureFiles } from '../documents.ts';
import type { ProblemList } from '../lines.ts';
import type { LocationCache } from '../linevalues.ts';
import { type Group, STEPS, type StagedLine, type StagedLines } from './stagedlines.ts';

/** What lines are published with. */
export interface Publishing {
  readonly service: Service;
  readonly staged: StagedLines;
  readonly files: ImportedFiles;
  readonly locations: LocationCache;
  /** The time of the import: UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly now: string;
  /** Maximum pixels of an image: what was allowed at the decision is not refused by a server with smaller limits. */
  readonly maxPixels: number;
  /** Only what the decision itself publishes may have any. */
  readonly problems: ProblemList;
}

/** A line with its values; undefined where it deletes the record. */
export interface PreparedLine extends StagedLine {
  readonly values: Record<string, unknown> | undefined;
  /** Its document, files included. */
  readonly document?: PreparedDocument;
}

/** A group with what can be had of it before it takes any lock. */
export interface PreparedGroup extends Group {
  readonly lines: readonly PreparedLine[];
  /** By whom staged patients say they were referred: their ids by that of the referrer. */
  readonly referrals: ReadonlyMap<number, readonly number[]>;
  /** The last replacement of each transaction that is corrected. */
  readonly replacements: ReadonlyMap<number, number>;
}

/** Prepares a group of an organization. */
export async function prepareGroup(
  publishing: Publishing,
  organization: Organization,
  group: Group,
): Promise<PreparedGroup> {
  const { org, step } = group;
  const lines: PreparedLine[] = [];
  for (const line of group.lines) lines.push(await prepareLine(publishing, organization, step, line));
  const idsOf = (type: string) => lines.filter((line) => line.type === type).map(({ id }) => id);
  const { staged } = publishing;
  const referrals = new Map<number, number[]>();
  for (const { id, link } of await staged.linkedTo(org, 'PatientV1', idsOf('PatientV1'))) {
    referrals.set(link, [...(referrals.get(link) ?? []), id]);
  }
  // They come in the order of their ids: the last one stays.
  const corrections = await staged.linkedTo(org, 'Transaction', idsOf('Transaction'));
  return { ...group, lines, referrals, replacements: new Map(corrections.map(({ id, link }) => [link, id])) };
}

async function prepareLine(
  publishing: Publishing,
  organization: Organization,
  step: number,
  line: StagedLine,
): Promise<PreparedLine> {
  const values = line.record === null ? undefined : (JSON.parse(line.record) as Record<string, unknown>);
  if (step !== STEPS.documents || values === undefined) return { ...line, values };
  const document = await prepareDocument(publishing, organization, line.id, values, line.line);
  if (document === undefined) return { ...line, values };
  if (!(await isStored(publishing.service.store.read, document))) await secureFiles(publishing.files, document);
  return { ...line, values, document };
}
