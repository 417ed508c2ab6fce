import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sql from 'sql-template-tag';
import { nowOf } from '../../clock.ts';
import type { Service } from '../../service.ts';
import { SCHEMA } from '../../store/schema/schema.ts';
import { readFingerprint } from '../../store/schema/state.ts';
import { type ImportClaim, type Store, StoreUnusable } from '../../store/store.ts';
import type { OpenSource } from '../lines.ts';
import type { ImportSummary } from '../reading.ts';
import { checkImport } from './check.ts';
import { PACE, type PaceLimits } from './pace.ts';
import type { Plan } from './plan.ts';
import { type ImportRow, Publisher } from './publisher.ts';
import { StagedLines } from './stagedlines.ts';

/** Between two looks whether another import has ended. */
const POLL_MS = 200;

/** Becomes the only process that imports into a store, when all others have ended. */
export async function waitForClaim(store: Store): Promise<ImportClaim> {
  for (;;) {
    const claim = await store.claimImports();
    if (claim !== undefined) return claim;
    await sleep(POLL_MS);
  }
}

/**
 * Imports records so that others write meanwhile (D58): all are checked and staged, then it is decided to publish them,
 * and that is done in parts, by this process or, when it is killed, by another. Throws `ImportRefused`, and then nothing
 * has changed.
 */
export async function importStaged(
  service: Service,
  claim: ImportClaim,
  source: OpenSource,
  allowCredentials: boolean,
  limits: PaceLimits = PACE,
): Promise<ImportSummary> {
  const name = randomUUID();
  const area = await claim.open(name);
  try {
    const staged = new StagedLines(area, name);
    const checked = await checkImport(service, staged, source, nowOf(service), allowCredentials);
    await area.sync();
    const publisher = new Publisher(service, staged, limits);
    const row = await publisher.decide(checked, claim);
    if (row !== undefined) await publisher.publish(row);
    return { imported: checked.imported, deleted: checked.deleted };
  } finally {
    await area.close();
    // What is decided, and what cannot be removed now, is left to whoever imports or serves next.
    await removeUnlessDecided(service.store, claim, [name]).catch(() => undefined);
  }
}

/**
 * Publishes what killed processes had decided to, and removes what they had staged for nothing. Throws `StoreUnusable` when
 * an import is left to a newer version.
 */
export async function resumeImports(
  service: Service,
  claim: ImportClaim,
  { signal, limits = PACE }: { readonly signal?: AbortSignal; readonly limits?: PaceLimits } = {},
): Promise<void> {
  // Only right after the claim is it certain that nobody else has staged anything.
  await removeUnlessDecided(service.store, claim, await claim.names());
  const rows = await service.store.read.all<ImportRow>(sql`SELECT name, plan, progress, position FROM imports`);
  for (const row of rows) {
    if (!(await isKnown(service.store, row))) leaveToNewer();
    if (!(await claim.names()).includes(row.name)) await giveUp(service.store, row.name);
    const area = await claim.open(row.name);
    try {
      await new Publisher(service, new StagedLines(area, row.name), limits).publish(row, signal);
    } finally {
      await area.close();
    }
    await claim.remove(row.name);
  }
}

/** Removes what is staged of some imports, but for those that are decided and not published in full. */
async function removeUnlessDecided(store: Store, claim: ImportClaim, names: readonly string[]): Promise<void> {
  const decided = await store.read.all<{ name: string }>(sql`SELECT name FROM imports`);
  const kept = new Set(decided.map(({ name }) => name));
  for (const name of names) if (!kept.has(name)) await claim.remove(name);
}

/** Whether this version knows all that may be staged: it decided the import itself, or has upgraded the store since. */
async function isKnown({ read }: Store, { plan }: ImportRow): Promise<boolean> {
  const { schema } = JSON.parse(plan) as Plan;
  return schema === SCHEMA.fingerprint || (await readFingerprint(read)) === SCHEMA.fingerprint;
}

function leaveToNewer(): never {
  throw new StoreUnusable(
    'An import of a newer version of molar is not published in full.',
    'Keep a server of that version running; it goes on with the import.',
  );
}

async function giveUp(store: Store, name: string): Promise<never> {
  await store.write((tx) => tx.run(sql`DELETE FROM imports WHERE name = ${name}`));
  throw new StoreUnusable(
    `An import was published in part, and what is left of it is missing (import-${name}).`,
    'Import its file again: what is there already stays as it is.',
  );
}
