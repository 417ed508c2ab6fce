import type { OpenPlace, Place } from '../place.ts';
import { openPlace } from '../place.ts';
import type { Snapshot } from '../snapshot.ts';
import { turn, type Work } from '../work.ts';
import type { CheckContext } from './context.ts';
import { type Book, CHECKS, type CheckName, type CheckProblem } from './findings.ts';
import { organizationNames } from './organizations.ts';
import { type Repaired, repair } from './repair.ts';
import { runChecks } from './run.ts';

/** How thorough a check is, and whether it may change anything. */
export interface CheckOptions extends Work {
  /** Reads every file and compares its SHA-256. */
  readonly deep: boolean;
  readonly repair: boolean;
}

/** What one check found. */
export interface CheckResult {
  readonly name: string;
  readonly title: string;
  readonly checked: number;
  readonly problems: number;
  /** Why it was not made; null when it was. */
  readonly skipped: string | null;
}

/** What a check of a place found, as it is printed. */
export interface CheckReport {
  readonly ok: boolean;
  readonly place: string;
  /** A server was running on it. */
  readonly served: boolean;
  readonly checks: readonly CheckResult[];
  /** At most 1000 of each check. */
  readonly problems: readonly (CheckProblem & { readonly check: string })[];
  /** What was repaired; null when that was not asked for. The checks are those made afterwards. */
  readonly repaired: readonly Repaired[] | null;
}

/** Checks what a server keeps, and repairs what can safely be when it is told to. Throws `StoreUnusable`. */
export async function checkPlace(place: Place, options: CheckOptions): Promise<CheckReport> {
  const opened = await openPlace(place);
  try {
    const first = await inSnapshot(opened, options, runChecks);
    if (!options.repair) return reportOf(opened, first, null);
    if (first.problems === 0) return reportOf(opened, first, []);
    const repaired = await repairPlace(opened, options, first);
    return reportOf(opened, repaired.length > 0 ? await inSnapshot(opened, options, runChecks) : first, repaired);
  } finally {
    await opened.close();
  }
}

async function repairPlace(opened: OpenPlace, options: CheckOptions, book: Book): Promise<Repaired[]> {
  // Another schema is not for this molar to mend, and opening the store would change it; damaged pages get no better.
  if (book.of('schema').problems > 0 || book.of('database').problems > 0) return [];
  const store = await opened.store();
  try {
    return await inSnapshot(opened, options, (context) => repair({ context, book, store, files: opened.files }));
  } finally {
    await store.close();
  }
}

async function inSnapshot<T>(
  opened: OpenPlace,
  options: CheckOptions,
  work: (context: CheckContext) => Promise<T>,
): Promise<T> {
  const snapshot = await opened.snapshot();
  try {
    return await work(await contextOf(opened, snapshot, options));
  } finally {
    await snapshot.close();
  }
}

async function contextOf(
  { live, files, served, keepsYoung }: OpenPlace,
  { read, dialect }: Snapshot,
  options: CheckOptions,
): Promise<CheckContext> {
  // A schema that is not ours is what the checks are to say.
  const names = await organizationNames(read).catch(() => new Map<number, string>());
  return {
    dialect,
    read,
    live,
    files,
    served,
    keepsYoung,
    deep: options.deep,
    now: options.now(),
    organization: (org) => names.get(org) ?? null,
    progress: (what, count) => options.progress(`Checking ${what}`, count),
    turn: (what, count) => turn(options, `Checking ${what}`, count),
  };
}

function reportOf({ name, served }: OpenPlace, book: Book, repaired: readonly Repaired[] | null): CheckReport {
  return {
    ok: book.problems === 0,
    place: name,
    served,
    checks: book.all().map(({ check, checked, problems, skipped }) => ({
      name: check,
      title: CHECKS[check as CheckName],
      checked,
      problems,
      skipped,
    })),
    problems: book.all().flatMap(({ check, listed }) => listed.map((problem) => ({ check, ...problem }))),
    repaired,
  };
}
