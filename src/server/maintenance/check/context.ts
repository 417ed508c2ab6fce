import type { PublicKeys } from '../../audit/keys.ts';
import type { Files } from '../../files/files.ts';
import type { Dialect } from '../../store/migrations/dialects.ts';
import type { Reader } from '../../store/store.ts';

/** What the checks work with. */
export interface CheckContext {
  readonly dialect: Dialect;
  /** One unchanging state of the store. */
  readonly read: Reader;
  /** What is committed now. */
  readonly live: Reader;
  readonly files: Files;
  /** A server runs on it: some of what looks unfinished is in progress. */
  readonly served: boolean;
  /** Files may stand there before their records are committed: one that no record names is left alone for a day. */
  readonly keepsYoung: boolean;
  /** Reads every file and compares its SHA-256. */
  readonly deep: boolean;
  /** Of whoever signed checkpoints of the audit log; undefined where no key is, as in a backup. */
  readonly auditKeys: PublicKeys | undefined;
  /** UTC milliseconds. */
  readonly now: number;
  /** The organization on the wire of a key in the store; null where there is none. */
  readonly organization: (org: number) => string | null;
  /** Called with how many more of what have been checked. */
  readonly progress: (what: string, count: number) => void;
  /** Between pages: reports progress, lets signals be handled, and throws when the work is interrupted. */
  readonly turn: (what: string, count: number) => Promise<void>;
}

/** A defect. Never holds values of records: only where to look. */
export interface CheckProblem {
  readonly table: string | null;
  /** Organization on the wire; null where it concerns none. */
  readonly organization: string | null;
  /** Id of the record, or what stands for one in this table. */
  readonly id: number | string | null;
  readonly message: string;
  /** As `molar server audit verify` has it; only problems of the audit log have one. */
  readonly code?: string;
}

/** Maximum listed problems of one check; further ones are only counted. */
const MAX_LISTED = 1000;

/** What one check has counted and found. */
class Findings {
  checked = 0;
  problems = 0;
  readonly listed: CheckProblem[] = [];
  /** Why it was not made, where it was not. */
  skipped: string | null = null;

  constructor(readonly check: string) {}

  counted(count: number): void {
    this.checked += count;
  }

  report(problem: CheckProblem): void {
    this.problems++;
    if (this.listed.length < MAX_LISTED) this.listed.push(problem);
  }
}

/** Checks by name, and what each covers, in the order of a report. */
export const CHECKS = {
  database: 'Pages and indexes of the database',
  schema: 'Tables, columns, indexes',
  records: 'Records: JSON, id, filter columns',
  values: 'Search tables of phone numbers and tags',
  links: 'Links lead to records',
  counts: 'Counts kept of records',
  ledger: 'Ledger derived from transactions',
  sequences: 'Ids given so far',
  uniqueness: 'Uniqueness',
  series: 'Occurrences of recurring events',
  stream: 'Stream messages without gaps',
  audit: 'Audit log, an unbroken chain',
  deliveries: 'Pending async deliveries',
  access: 'Tokens and API clients',
  files: 'Files of documents',
} as const;

export type CheckName = keyof typeof CHECKS;

/** The findings of all checks. */
export class CheckFindings {
  private readonly findings = new Map<CheckName, Findings>();

  of(name: CheckName): Findings {
    const known = this.findings.get(name);
    if (known !== undefined) return known;
    const made = new Findings(name);
    this.findings.set(name, made);
    return made;
  }

  all(): readonly Findings[] {
    return (Object.keys(CHECKS) as CheckName[]).map((name) => this.of(name));
  }

  get problems(): number {
    return this.all().reduce((sum, { problems }) => sum + problems, 0);
  }
}
