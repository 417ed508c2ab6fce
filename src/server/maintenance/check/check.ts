import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { keysOf, type PublicKeys } from '../../audit/keys.ts';
import { layoutOf, tableOf } from '../../store/layout.ts';
import { damageOf } from '../damage.ts';
import { type DataLocation, type OpenDataLocation, openDataLocation } from '../datalocation.ts';
import type { Snapshot } from '../snapshot.ts';
import { ownSchema } from '../tables.ts';
import { turn, type Work } from '../work.ts';
import { checkAccess } from './access.ts';
import { CHECKS, type CheckContext, CheckFindings, type CheckName, type CheckProblem } from './context.ts';
import { checkCounts } from './counts.ts';
import { checkFiles } from './files.ts';
import { checkLedger } from './ledger.ts';
import { checkOrganizations, organizationNames } from './links.ts';
import { checkRecords } from './records.ts';
import { checkReferences } from './references.ts';
import { type Repaired, repair } from './repair.ts';
import { checkDatabase, checkSchema } from './schema.ts';
import { checkSeries } from './series.ts';
import { checkAudit, checkDeliveries, checkStream } from './stream.ts';
import { checkSequences, checkUniqueness } from './uniqueness.ts';

/** How thorough a check is, and whether it may change anything. */
export interface CheckOptions extends Work {
  /** Reads every file and compares its SHA-256. */
  readonly deep: boolean;
  readonly repair: boolean;
}

interface KnownOptions extends CheckOptions {
  readonly auditKeys: PublicKeys | undefined;
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

/** Checks a server's data, and on request repairs what can be repaired safely. Throws `StoreUnusable`. */
export async function checkPlace(place: DataLocation, asked: CheckOptions): Promise<CheckReport> {
  const opened = await openDataLocation(place);
  try {
    const options = { ...asked, auditKeys: await keysOf(place) };
    const first = await inSnapshot(opened, options, runChecks);
    if (!options.repair) return reportOf(opened, first, null);
    if (first.problems === 0) return reportOf(opened, first, []);
    const repaired = await repairPlace(opened, options, first);
    return reportOf(opened, repaired.length > 0 ? await inSnapshot(opened, options, runChecks) : first, repaired);
  } finally {
    await opened.close();
  }
}

async function repairPlace(opened: OpenDataLocation, options: KnownOptions, book: CheckFindings): Promise<Repaired[]> {
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
  opened: OpenDataLocation,
  options: KnownOptions,
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
  { live, files, served, keepsYoung }: OpenDataLocation,
  { read, dialect }: Snapshot,
  options: KnownOptions,
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
    auditKeys: options.auditKeys,
    now: options.now(),
    organization: (org) => names.get(org) ?? null,
    progress: (what, count) => options.progress(`Checking ${what}`, count),
    turn: (what, count) => turn(options, `Checking ${what}`, count),
  };
}

function reportOf(
  { name, served }: OpenDataLocation,
  book: CheckFindings,
  repaired: readonly Repaired[] | null,
): CheckReport {
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

type Pass = (context: CheckContext, book: CheckFindings) => Promise<void>;

/** What is done in one go, and the check to which a table counts that cannot be read. */
const PASSES: readonly (readonly [CheckName, Pass])[] = [
  ...STORED_RESOURCES.map(
    (resource) =>
      ['records', (context: CheckContext, book: CheckFindings) => checkRecords(context, book, resource)] as const,
  ),
  ['records', checkReferences],
  ['counts', checkCounts],
  ['ledger', checkLedger],
  ['sequences', checkSequences],
  ['uniqueness', checkUniqueness],
  ['series', checkSeries],
  ['stream', checkStream],
  ['audit', checkAudit],
  ['deliveries', checkDeliveries],
  ['access', checkAccess],
  ['files', checkFiles],
];

/** Runs every check. Memory does not grow with the data. */
async function runChecks(context: CheckContext): Promise<CheckFindings> {
  const book = new CheckFindings();
  await guarded('database', book, () => checkDatabase(context, book));
  const own = await ownSchema();
  const whole = await guarded('schema', book, () => checkSchema(context, book, own));
  if (whole !== true) {
    for (const findings of book.all()) {
      if (findings.check !== 'database' && findings.check !== 'schema') findings.skipped = 'the schema is another';
    }
    return book;
  }
  await guarded('links', book, () => checkOrganizations(context, book, OWNED));
  for (const [name, pass] of PASSES) await guarded(name, book, () => pass(context, book));
  return book;
}

/** Tables without rows of an organization that does not exist. */
const OWNED = [
  ...STORED_RESOURCES.flatMap((resource) => [tableOf(resource), ...layoutOf(resource).sides.map((side) => side.table)]),
  'reference_records',
  'distributions',
  'ledger',
];

/** SQLSTATE of what PostgreSQL is asked after a failure in the same transaction. */
const ABORTED = '25P02';

/** A part of a damaged database that cannot be read is a finding, and the rest is checked all the same. */
async function guarded<T>(name: CheckName, book: CheckFindings, pass: () => Promise<T>): Promise<T | undefined> {
  try {
    return await pass();
  } catch (error) {
    if ((error as { state?: { code?: string } }).state?.code === ABORTED) {
      book.of(name).skipped = 'the database answers nothing more after what it could not read';
      return undefined;
    }
    const message = damageOf(error);
    if (message === undefined) throw error;
    book.of(name).report({ table: null, organization: null, id: null, message: `cannot be read: ${message}` });
    return undefined;
  }
}
