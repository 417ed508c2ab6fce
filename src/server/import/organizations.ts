import sql, { raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { ReadContext } from '../../catalog/fields/kind.ts';
import { isDate, utcMilliseconds } from '../../catalog/fields/times.ts';
import { readFields } from '../../catalog/record.ts';
import { findOrganization, type Organization } from '../organizations.ts';
import { tableOf } from '../store/layout.ts';
import type { Statement, Transaction } from '../store/store.ts';
import { instantIn } from '../zones.ts';
import { ORGANIZATION_KIND } from './kinds.ts';
import { type ImportLine, missingField, type ProblemList } from './lines.ts';

/** An organization that lines refer to; `defined`: by its own line or in the store, so that its time zone is known. */
export interface KnownOrganization extends Organization {
  readonly defined: boolean;
}

/** The organizations of an import, in any order with their records. */
export class Organizations {
  private readonly found = new Map<string, KnownOrganization>();
  private readonly firstLine = new Map<string, number>();
  private readonly removals = new Map<string, number>();

  constructor(
    private readonly tx: Transaction,
    private readonly now: string,
  ) {}

  /** The organization by its id, if a line has referred to it. */
  known(id: string): KnownOrganization | undefined {
    return this.found.get(id);
  }

  /** Looks up an organization that `known` does not know; a new one gets its key now and must be defined by a later line. */
  async find(id: string, line: number): Promise<KnownOrganization> {
    const stored = await findOrganization(this.tx, id);
    if (stored !== undefined) await this.lock(stored.org);
    const found: KnownOrganization = stored
      ? { ...stored, defined: true }
      : { ...(await this.insert({ id, timezone: 'UTC', createdDate: this.now, name: null })), defined: false };
    this.found.set(id, found);
    if (!found.defined) this.firstLine.set(id, line);
    return found;
  }

  /** Reads a line of type Organization. */
  async readLine(entry: ImportLine, problems: ProblemList): Promise<void> {
    const read = readOrganization(entry, this.now, problems);
    if (read === undefined) return;
    // Its records may be deleted by later lines.
    if (read.deleted) {
      this.removals.set(read.id, entry.line);
      return;
    }
    this.removals.delete(read.id);
    this.found.set(read.id, { ...(await this.insert(read)), defined: true });
  }

  /** Deletes organizations; reports those that records name but neither a line nor the store defines. */
  async settle(problems: ProblemList): Promise<void> {
    for (const [id, line] of this.removals) await this.remove(id, line, problems);
    for (const [id, { defined }] of this.found) {
      if (!defined) addUndefined(problems, this.firstLine.get(id) ?? 0, id);
    }
  }

  /** Updating its row makes other writes of the organization wait until the import is done (`Store.write`). */
  private async lock(org: number): Promise<void> {
    await this.tx.run(sql`UPDATE organizations SET timezone = timezone WHERE org = ${org}`);
  }

  private async insert(values: OrganizationValues): Promise<Organization> {
    await this.tx.run(upsertOrganization(values));
    return (await findOrganization(this.tx, values.id)) as Organization;
  }

  private async remove(id: string, line: number, problems: ProblemList): Promise<void> {
    const organization = await findOrganization(this.tx, id);
    if (organization === undefined) return;
    for (const resource of STORED_RESOURCES) {
      const left = await this.tx.get(
        sql`SELECT 1 AS found FROM ${raw(tableOf(resource))} WHERE org = ${organization.org} LIMIT 1`,
      );
      if (left === undefined) continue;
      addOccupied(problems, line, id, resource.many);
      return;
    }
    await removeOrganization(this.tx, organization.org);
    this.found.delete(id);
  }
}

/** Deletes an organization that has no records of resources. */
export async function removeOrganization(tx: Transaction, org: number): Promise<void> {
  await tx.run(sql`DELETE FROM reference_records WHERE org = ${org}`);
  await tx.run(sql`DELETE FROM organizations WHERE org = ${org}`);
}

/** Reports an organization that still has records, `many` of a kind, and is to be deleted. */
export function addOccupied(problems: ProblemList, line: number, id: string, many: string): void {
  problems.add(line, 'id', `Organization ${id} still has ${many}; it cannot be deleted.`);
}

/** Reports an organization that records name, but neither a line nor the store defines. */
export function addUndefined(problems: ProblemList, line: number, id: string): void {
  problems.add(line, 'organizationId', `There is no organization ${id}: add a line of type Organization for it.`);
}

/** What a line says of an organization. */
export interface OrganizationValues {
  readonly id: string;
  readonly name: string | null;
  readonly timezone: string;
  /** UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly createdDate: string;
}

/** Reads a line of type Organization; undefined when it has problems. `now` is when one without a date was created. */
export function readOrganization(
  { line, record }: ImportLine,
  now: string,
  problems: ProblemList,
): (OrganizationValues & { readonly deleted: boolean }) | undefined {
  const { type: _, organizationId, deleted, createdDate, ...given } = record;
  const context: ReadContext = { mode: 'import', problems: [], warnings: [] };
  // Its own id may be given under either name, or both (contract §7).
  const values = readFields(ORGANIZATION_KIND, { ...given, id: given.id ?? organizationId }, context);
  if ((given.id ?? organizationId) == null) context.problems.push(missingField('id'));
  if (given.timezone == null && deleted !== true) context.problems.push(missingField('timezone'));
  if (organizationId != null && given.id != null && organizationId !== given.id) {
    const description = 'organizationId must be the id of the organization.';
    context.problems.push({ code: 'field.conflict', source: 'organizationId', description });
  }
  const timezone = typeof values.timezone === 'string' ? values.timezone : 'UTC';
  const created = readCreatedDate(createdDate, timezone, context) ?? now;
  problems.addAll(line, context.problems);
  if (context.problems.length > 0) return undefined;
  const name = (values.name as string | null | undefined) ?? null;
  return { id: String(values.id), name, timezone, createdDate: created, deleted: deleted === true };
}

/** The statement that writes an organization. */
export function upsertOrganization({ id, name, timezone, createdDate }: OrganizationValues): Statement {
  return sql`INSERT INTO organizations (id, name, timezone, created_date) VALUES (${id}, ${name}, ${timezone}, ${createdDate})
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, timezone = excluded.timezone, created_date = excluded.created_date`;
}

/** `createdDate` is a date, then local midnight, or a date-time (contract §7). */
function readCreatedDate(input: unknown, zone: string, context: ReadContext): string | undefined {
  if (input === undefined || input === null) return undefined;
  if (typeof input === 'string' && isDate(input)) {
    const [year = 1, month = 1, day = 1] = input.split('-').map(Number);
    const wall = { year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 };
    return new Date(zone === 'UTC' ? utcMilliseconds(wall) : instantIn(zone)(wall)).toISOString();
  }
  const read = ORGANIZATION_KIND.createdDate?.kind.read(input, 'createdDate', {
    ...context,
    instantOf: instantIn(zone),
  });
  return read as string | undefined;
}
