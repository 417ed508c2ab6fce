import sql, { join, raw } from 'sql-template-tag';
import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { appendCommand, commandUser } from '../../audit/commands.ts';
import { appendAudit } from '../../audit/entries.ts';
import { findOrganization, type Organization } from '../../organizations.ts';
import { tableOf } from '../../store/layout.ts';
import { SCHEMA } from '../../store/schema/schema.ts';
import { raiseSequence } from '../../store/sequences.ts';
import type { Transaction } from '../../store/store.ts';
import { IMPORT } from '../changes.ts';
import { removeOrganization, upsertOrganization } from '../organizations.ts';
import type { CheckedImport } from './check.ts';
import type { Plan, PlannedOrganization, Tally } from './plan.ts';
import type { StagedLines } from './stagedlines.ts';

/** What an organization is called until all of its records are there: no id that anybody may ask for (D1). */
function hiddenId(id: string): string {
  return `#${id}`;
}

/** The highest ids that the lines of an import name, by staged organization and type. */
export type HighestIds = Awaited<ReturnType<StagedLines['highest']>>;

/**
 * Decides, in a transaction, that an import is published: with its organizations and credentials, and with its ids, which
 * nobody is given from now on. Those of new organizations are in use only when all of their records are there.
 */
export async function decide(
  tx: Transaction,
  checked: CheckedImport,
  highest: HighestIds,
  { imagePixels }: Pick<Plan, 'imagePixels'>,
): Promise<Plan> {
  const { at, imported, deleted, organizations, removed, credentials } = checked;
  const all = organizations.all();
  // Those that are new have no row yet.
  await lockOrganizations(
    tx,
    all.map(({ organization }) => organization),
  );
  const planned: PlannedOrganization[] = [];
  for (const { organization, values, lines } of all) {
    const isNew = organization.org < 0;
    const id = isNew ? hiddenId(organization.id) : organization.id;
    if (values !== undefined) await tx.run(upsertOrganization({ ...values, id }));
    const { org } = isNew ? ((await findOrganization(tx, id)) as Organization) : organization;
    planned.push({ ...organization, org, staged: organization.org, isNew, lines });
  }
  for (const { org, id } of removed) {
    await tx.run(sql`UPDATE organizations SET id = ${hiddenId(id)} WHERE org = ${org}`);
  }
  for (const write of credentials) await write(tx);
  const keys = new Map(planned.map(({ staged: key, org }) => [key, org]));
  for (const { org, type, id } of highest) {
    const key = keys.get(org);
    if (key !== undefined) await raiseSequence(tx, key, type, id);
  }
  return {
    at,
    who: commandUser(),
    schema: SCHEMA.fingerprint,
    imagePixels,
    imported,
    deleted,
    organizations: planned,
    removed,
  };
}

/** Ends an import, in the transaction with its last lines: its organizations are found, and it is audited. */
export async function complete(tx: Transaction, plan: Plan, tally: Tally): Promise<void> {
  const { at, who, organizations, removed } = plan;
  for (const { org, id, isNew } of organizations) {
    if (isNew) await tx.run(sql`UPDATE organizations SET id = ${id} WHERE org = ${org}`);
  }
  await lockOrganizations(tx, removed);
  for (const { org, id } of removed) {
    // A request that was under way at the decision may have written a record, and was told that it is there.
    if (await hasRecords(tx, org)) await tx.run(sql`UPDATE organizations SET id = ${id} WHERE org = ${org}`);
    else await removeOrganization(tx, org);
  }
  for (const change of tally.operations()) await appendAudit(tx, { ...change, at, actor: IMPORT });
  const named = organizations.filter(({ lines }) => lines > 0);
  for (const { org, lines } of named) {
    await appendCommand(tx, at, { operation: OPERATION, org, count: lines, ...tally.told(org) }, who);
  }
  const count = Object.values(plan.imported).reduce((sum, some) => sum + some, plan.deleted);
  if (named.length === 0) await appendCommand(tx, at, { operation: OPERATION, count }, who);
}

const OPERATION = 'server.import';

/** Has other writes of organizations wait until this one is on disk, and waits for theirs (`Store.write`). */
async function lockOrganizations(tx: Transaction, organizations: readonly Organization[]): Promise<void> {
  if (organizations.length === 0) return;
  const keys = join(organizations.map(({ org }) => org));
  await tx.run(sql`UPDATE organizations SET timezone = timezone WHERE org IN (${keys})`);
}

async function hasRecords(tx: Transaction, org: number): Promise<boolean> {
  for (const resource of STORED_RESOURCES) {
    const row = await tx.get(sql`SELECT 1 AS found FROM ${raw(tableOf(resource))} WHERE org = ${org} LIMIT 1`);
    if (row !== undefined) return true;
  }
  return false;
}
