import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { findOrganization, type Organization } from '../../organizations.ts';
import { tableOf } from '../../store/layout.ts';
import type { ImportLine, ProblemList } from '../lines.ts';
import {
  addOccupied,
  addUndefined,
  type KnownOrganization,
  type OrganizationValues,
  readOrganization,
} from '../organizations.ts';
import type { StagedLines } from './stagedlines.ts';

/** The organizations of an import that is staged; those that the store does not have get keys below 0. */
export class StagedOrganizations {
  private readonly found = new Map<string, KnownOrganization>();
  private readonly firstLine = new Map<string, number>();
  private readonly removals = new Map<string, number>();
  private readonly given = new Map<string, OrganizationValues>();
  private readonly lines = new Map<number, number>();
  private made = 0;

  constructor(
    private readonly staged: StagedLines,
    private readonly now: string,
  ) {}

  /** The organization by its id, if a line has referred to it. */
  known(id: string): KnownOrganization | undefined {
    return this.found.get(id);
  }

  /** Looks up an organization that `known` does not know. */
  async find(id: string, line: number): Promise<KnownOrganization> {
    const stored = await findOrganization(this.staged, id);
    const found: KnownOrganization = stored
      ? { ...stored, defined: true }
      : { org: this.nextKey(), id, timezone: 'UTC', createdDate: this.now, defined: false };
    this.found.set(id, found);
    if (!found.defined) this.firstLine.set(id, line);
    return found;
  }

  /** Reads a line of type Organization. */
  async readLine(entry: ImportLine, problems: ProblemList): Promise<void> {
    const read = readOrganization(entry, this.now, problems);
    if (read === undefined) return;
    const { id, timezone, createdDate, deleted } = read;
    if (deleted) {
      this.removals.set(id, entry.line);
      return;
    }
    this.removals.delete(id);
    const known = this.found.get(id) ?? (await findOrganization(this.staged, id));
    this.found.set(id, { org: known?.org ?? this.nextKey(), id, timezone, createdDate, defined: true });
    this.given.set(id, read);
  }

  /** A line about a record of an organization. */
  count(org: number): void {
    this.lines.set(org, (this.lines.get(org) ?? 0) + 1);
  }

  /** Reports what is wrong with organizations once all lines are read. Answers those to be deleted. */
  async settle(problems: ProblemList): Promise<Organization[]> {
    const removed: Organization[] = [];
    for (const [id, line] of this.removals) {
      const organization = this.found.get(id) ?? (await findOrganization(this.staged, id));
      const left = organization && (await this.left(organization.org));
      if (left !== undefined) addOccupied(problems, line, id, left);
      else if (organization !== undefined) removed.push(organization);
    }
    const gone = new Set(removed.map(({ id }) => id));
    for (const [id, { defined }] of this.found) {
      if (!defined && !gone.has(id)) addUndefined(problems, this.firstLine.get(id) ?? 0, id);
    }
    // What is neither there nor to be made has nothing to be deleted.
    for (const { id, org } of removed.filter((organization) => organization.org < 0)) {
      this.found.delete(id);
      await this.staged.run(sql`DELETE FROM import_lines WHERE import = ${this.staged.name} AND org = ${org}`);
    }
    return removed.filter(({ org }) => org > 0);
  }

  /** The organizations, with what their own lines give and how many lines are about their records. */
  all(): {
    readonly organization: Organization;
    readonly values: OrganizationValues | undefined;
    readonly lines: number;
  }[] {
    return [...this.found.values()].map(({ defined: _, ...organization }) => ({
      organization,
      values: this.given.get(organization.id),
      lines: this.lines.get(organization.org) ?? 0,
    }));
  }

  private nextKey(): number {
    return -++this.made;
  }

  /** Records of which kind an organization will still have; undefined when it will have none. */
  private async left(org: number): Promise<string | undefined> {
    for (const resource of STORED_RESOURCES) {
      const { many, type } = resource;
      const own = sql`s.import = ${this.staged.name} AND s.org = ${org} AND s.type = ${type}`;
      const row = await this.staged.get(sql`SELECT 1 AS found WHERE
        EXISTS (SELECT 1 FROM import_lines s WHERE ${own} AND s.record IS NOT NULL)
        OR EXISTS (SELECT 1 FROM ${raw(tableOf(resource))} r WHERE r.org = ${org}
          AND NOT EXISTS (SELECT 1 FROM import_lines s WHERE ${own} AND s.id = r.id))`);
      if (row !== undefined) return many;
    }
    return undefined;
  }
}
