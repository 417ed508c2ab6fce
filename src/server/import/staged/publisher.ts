import sql from 'sql-template-tag';
import { removeUnlessKept } from '../../files/recovery.ts';
import type { Organization } from '../../organizations.ts';
import type { Service } from '../../service.ts';
import type { ImportClaim, Transaction } from '../../store/store.ts';
import { ImportedFiles } from '../documents.ts';
import { ProblemList } from '../lines.ts';
import { storedLocations } from '../linevalues.ts';
import type { CheckedImport } from './check.ts';
import { complete, decide, type HighestIds } from './decide.ts';
import { Pace, type PaceLimits } from './pace.ts';
import { BEGINNING, type Plan, type Position, Tally } from './plan.ts';
import { type PreparedGroup, type Publishing, prepareGroup } from './prepare.ts';
import { publishGroup } from './publish.ts';
import { ALL_STEPS, DECIDING_STEPS, LATER_STEPS, type StagedLines, type StepRange } from './stagedlines.ts';

/** How far an import is published, as the table of imports has it. */
export interface ImportRow {
  readonly name: string;
  /** JSON of `Plan`. */
  readonly plan: string;
  /** Text of `Tally`. */
  readonly progress: string;
  /** JSON of `Position`. */
  readonly position: string;
}

/** Publishes what is staged of an import. */
export class Publisher {
  constructor(
    private readonly service: Service,
    private readonly staged: StagedLines,
    private readonly limits: PaceLimits,
  ) {}

  /**
   * Decides that a checked import is published. A short one is published with it; of a long one the row is returned that
   * `publish` goes on with. Throws `ImportRefused` when what was written since the check is in its way.
   */
  async decide(checked: CheckedImport, claim: Pick<ImportClaim, 'confirm'>): Promise<ImportRow | undefined> {
    const { service, staged, limits } = this;
    const isLong = await staged.isMoreThan(limits.atOnce);
    const highest = await staged.highest();
    const { imagePixels } = service.budgets.limits;
    return this.withFiles({ at: checked.at, imagePixels }, async (publishing) => {
      const groups = await this.prepared(publishing, checked, isLong ? DECIDING_STEPS : ALL_STEPS);
      publishing.problems.throwIfAny();
      return service.store.write(async (tx) => {
        await claim.confirm(tx);
        // Its own for each time that the transaction is tried.
        const problems = new ProblemList();
        const { plan, tally } = await this.publishWith(tx, checked, highest, { ...publishing, problems }, groups);
        problems.throwIfAny();
        if (isLong) return insertRow(tx, staged.name, plan, tally);
        await complete(tx, plan, tally);
        return undefined;
      });
    });
  }

  /** Publishes the rest of an import that is decided, in parts. `signal` ends it between two of them. */
  async publish(row: ImportRow, signal?: AbortSignal): Promise<void> {
    const { staged, limits, service } = this;
    const { store } = service;
    const plan = JSON.parse(row.plan) as Plan;
    const organizations = new Map(plan.organizations.map((planned) => [planned.staged, planned]));
    const pace = new Pace(store.read, limits);
    let { position, progress } = row;
    for (;;) {
      signal?.throwIfAborted();
      const group = await staged.after(JSON.parse(position) as Position, await pace.next(), LATER_STEPS);
      if (group === undefined) break;
      const organization = organizations.get(group.org) as Organization;
      const next = JSON.stringify({ org: group.org, step: group.step, seq: group.lines.at(-1)?.seq } as Position);
      let times = { begun: 0, workMs: 0 };
      progress = await this.withFiles(plan, async (publishing) => {
        const prepared = await prepareGroup(publishing, organization, group);
        requireNone(publishing.problems);
        return store.write(async (tx) => {
          const problems = new ProblemList();
          const tally = Tally.of(progress);
          const begun = performance.now();
          await publishGroup(tx, { ...publishing, problems }, organization, prepared, tally);
          requireNone(problems);
          const text = tally.toText();
          await this.move(tx, position, { position: next, progress: text });
          times = { begun, workMs: performance.now() - begun };
          return text;
        }, organization.org);
      });
      position = next;
      await pace.published(group.lines.length, times.workMs, performance.now() - times.begun);
    }
    await store.write(async (tx) => {
      await this.move(tx, position, undefined);
      await complete(tx, plan, Tally.of(progress));
    });
  }

  /** The groups of some steps, prepared; they are few. */
  private async prepared(
    publishing: Publishing,
    { organizations }: CheckedImport,
    steps: StepRange,
  ): Promise<PreparedGroup[]> {
    const known = new Map(organizations.all().map(({ organization }) => [organization.org, organization]));
    const groups: PreparedGroup[] = [];
    for (let position = BEGINNING; ; ) {
      const group = await this.staged.after(position, this.limits.most, steps);
      if (group === undefined) return groups;
      groups.push(await prepareGroup(publishing, known.get(group.org) as Organization, group));
      position = { org: group.org, step: group.step, seq: group.lines.at(-1)?.seq ?? 0 };
    }
  }

  private async publishWith(
    tx: Transaction,
    checked: CheckedImport,
    highest: HighestIds,
    publishing: Publishing,
    groups: readonly PreparedGroup[],
  ): Promise<{ plan: Plan; tally: Tally }> {
    const plan = await decide(tx, checked, highest, this.service.budgets.limits);
    const tally = new Tally();
    for (const group of groups) {
      const organization = plan.organizations.find(({ staged }) => staged === group.org) as Organization;
      await publishGroup(tx, { ...publishing, locations: storedLocations(tx) }, organization, group, tally);
    }
    return { plan, tally };
  }

  /** Moves the position, or ends the import, unless another process has: then this one was taken for dead. */
  private async move(
    tx: Transaction,
    position: string,
    to: Pick<ImportRow, 'position' | 'progress'> | undefined,
  ): Promise<void> {
    const { name } = this.staged;
    const moved = await tx.run(
      to === undefined
        ? sql`DELETE FROM imports WHERE name = ${name} AND position = ${position}`
        : sql`UPDATE imports SET position = ${to.position}, progress = ${to.progress} WHERE name = ${name} AND position = ${position}`,
    );
    if (moved === 0) throw new Error('Another process has gone on with the import.');
  }

  /** Publishes with files: kept or discarded, as their records say. */
  private async withFiles<T>(
    { at, imagePixels }: Pick<Plan, 'at' | 'imagePixels'>,
    work: (publishing: Publishing) => Promise<T>,
  ): Promise<T> {
    const { service, staged } = this;
    const files = new ImportedFiles(service.files);
    const locations = storedLocations(service.store.read);
    try {
      const maxPixels = Math.max(imagePixels, service.budgets.limits.imagePixels);
      const problems = new ProblemList();
      const value = await work({ service, staged, files, locations, now: at, maxPixels, problems });
      await files.keep();
      await removeUnlessKept(service, files.replaced);
      return value;
    } catch (error) {
      await files.settle(service.store);
      throw error;
    }
  }
}

/** What is decided is published in full: whatever is against a line now is a fault, and the import waits. */
function requireNone({ listed: [first] }: ProblemList): void {
  if (first === undefined) return;
  throw new Error(`Line ${first.line} of an import cannot be published any more: ${first.message}`);
}

async function insertRow(tx: Transaction, name: string, plan: Plan, tally: Tally): Promise<ImportRow> {
  const row = {
    name,
    plan: JSON.stringify(plan),
    progress: tally.toText(),
    position: JSON.stringify(BEGINNING),
  };
  await tx.run(sql`INSERT INTO imports (name, plan, progress, position)
    VALUES (${name}, ${row.plan}, ${row.progress}, ${row.position})`);
  return row;
}
