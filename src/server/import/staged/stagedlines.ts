import sql, { join } from 'sql-template-tag';
import type { Row, StagingArea, Statement, Writing } from '../../store/store.ts';
import type { RecordKind } from '../kinds.ts';
import type { Position } from './plan.ts';

/**
 * In which order the lines of an organization are published: what others depend on comes first. Tags have rules among each
 * other, so that only the decision itself can tell whether all of them hold; of documents, the files take long.
 */
export const STEPS = {
  tags: 0,
  references: 1,
  patients: 2,
  others: 3,
  documents: 4,
  referrals: 5,
  corrections: 6,
} as const;

/** Types of lines that follow from others: the patients whom one has referred, and a transaction that is corrected. */
export const REFERRALS = 'Referrals';
const CORRECTION = 'Correction';

/** The step in which the records of a kind are published. */
export function stepOf({ type, resource }: RecordKind): number {
  if (resource === undefined) return STEPS.references;
  const own: Readonly<Record<string, number>> = {
    TransactionTagV1: STEPS.tags,
    PatientV1: STEPS.patients,
    DocumentV1: STEPS.documents,
  };
  return own[type] ?? STEPS.others;
}

/** Some of the steps, from one to another. */
export interface StepRange {
  readonly from: number;
  readonly to: number;
}

export const ALL_STEPS: StepRange = { from: STEPS.tags, to: STEPS.corrections };
/** What only the decision itself publishes, and what comes after it. */
export const DECIDING_STEPS: StepRange = { from: STEPS.tags, to: STEPS.tags };
export const LATER_STEPS: StepRange = { from: STEPS.references, to: STEPS.corrections };

/** A line as it is staged. */
export interface StagedLine {
  readonly type: string;
  readonly id: number;
  readonly seq: number;
  readonly line: number;
  /** JSON of the values that the line gives; null where it deletes the record. */
  readonly record: string | null;
  /** Who referred a patient, or what a transaction corrects. */
  readonly link: number | null;
}

/** A line about to be staged. */
export type NewLine = Omit<StagedLine, 'seq'> & {
  readonly org: number;
  readonly step: number;
  readonly twin: string | null;
};

/** Lines of one organization and one step that are published together. */
export interface Group {
  readonly org: number;
  readonly step: number;
  readonly lines: readonly StagedLine[];
}

/** Statements and characters that are written together. */
const MAX_STATEMENTS = 500;
const MAX_CHARACTERS = 4_000_000;

/** The lines of an import in its staging area. What is written is buffered, and seen by every read. */
export class StagedLines implements Writing {
  private buffer: Statement[] = [];
  private characters = 0;
  private seq = 0;

  constructor(
    readonly area: StagingArea,
    readonly name: string,
  ) {}

  async run(statement: Statement): Promise<number> {
    this.buffer.push(statement);
    for (const value of statement.values) if (typeof value === 'string') this.characters += value.length;
    if (this.buffer.length >= MAX_STATEMENTS || this.characters >= MAX_CHARACTERS) await this.flush();
    return 0;
  }

  async queue(statement: Statement): Promise<void> {
    await this.run(statement);
  }

  async all<T extends object = Row>(statement: Statement): Promise<T[]> {
    await this.flush();
    return this.area.read.all<T>(statement);
  }

  async get<T extends object = Row>(statement: Statement): Promise<T | undefined> {
    await this.flush();
    return this.area.read.get<T>(statement);
  }

  async flush(): Promise<void> {
    if (this.buffer.length === 0) return;
    const { buffer } = this;
    [this.buffer, this.characters] = [[], 0];
    await this.area.write(buffer);
  }

  /** Stages a line. Of several lines for a record the last one counts, in the place of the first. */
  put({ org, type, id, step, line, record, link, twin }: NewLine): Promise<number> {
    return this.run(sql`INSERT INTO import_lines (import, org, type, id, step, seq, line, record, link, twin)
      VALUES (${this.name}, ${org}, ${type}, ${id}, ${step}, ${++this.seq}, ${line}, ${record}, ${link}, ${twin})
      ON CONFLICT (import, org, type, id) DO UPDATE
        SET line = excluded.line, record = excluded.record, link = excluded.link, twin = excluded.twin`);
  }

  /** A record as it is staged; undefined when no line names it. */
  find(org: number, type: string, id: number): Promise<{ record: string | null } | undefined> {
    return this.get(sql`SELECT record FROM import_lines
      WHERE import = ${this.name} AND org = ${org} AND type = ${type} AND id = ${id}`);
  }

  /** Those of some records that lines name. */
  async named(org: number, type: string, ids: readonly number[]): Promise<Set<number>> {
    if (ids.length === 0) return new Set();
    const rows = await this.all<{ id: number }>(sql`SELECT id FROM import_lines
      WHERE import = ${this.name} AND org = ${org} AND type = ${type} AND id IN (${join(ids)})`);
    return new Set(rows.map(({ id }) => id));
  }

  /** Another staged record that has what may not be shared. */
  twinOf(org: number, type: string, id: number, twin: string): Promise<{ id: number } | undefined> {
    return this.get(sql`SELECT id FROM import_lines
      WHERE import = ${this.name} AND org = ${org} AND type = ${type} AND twin = ${twin} AND id <> ${id}`);
  }

  /** Lines of a type whose link leads to one of these, `id` by `link`, by ascending `id`. */
  async linkedTo(org: number, type: string, ids: readonly number[]): Promise<{ id: number; link: number }[]> {
    if (ids.length === 0) return [];
    // Sorted here: to have them in this order, SQLite would read every line of the type.
    const rows = await this.all<{ id: number; link: number }>(sql`SELECT id, link FROM import_lines
      WHERE import = ${this.name} AND org = ${org} AND type = ${type} AND link IN (${join(ids)})`);
    return rows.sort((a, b) => a.id - b.id);
  }

  /** The highest id of each type that lines name. */
  highest(): Promise<{ org: number; type: string; id: number }[]> {
    return this.all(sql`SELECT org, type, MAX(id) AS id FROM import_lines
      WHERE import = ${this.name} AND step <= ${STEPS.documents} GROUP BY org, type ORDER BY org, type`);
  }

  /** Whether there are more records than this. */
  async isMoreThan(records: number): Promise<boolean> {
    const row = await this.get<{ found: number }>(sql`SELECT COUNT(*) AS found FROM
      (SELECT 1 FROM import_lines WHERE import = ${this.name} LIMIT ${records + 1}) AS counted`);
    return (row?.found ?? 0) > records;
  }

  /** The lines after a position: as many as are wanted, of one organization and step; documents one by one. */
  async after({ org, step, seq }: Position, wanted: number, steps: StepRange): Promise<Group | undefined> {
    const next = await this.get<{ org: number; step: number }>(sql`SELECT org, step FROM import_lines
      WHERE import = ${this.name} AND (org, step, seq) > (${org}, ${step}, ${seq})
        AND step >= ${steps.from} AND step <= ${steps.to} ORDER BY org, step, seq LIMIT 1`);
    if (next === undefined) return undefined;
    const from = next.org === org && next.step === step ? seq : 0;
    const lines = await this.all<StagedLine>(sql`SELECT type, id, seq, line, record, link FROM import_lines
      WHERE import = ${this.name} AND org = ${next.org} AND step = ${next.step} AND seq > ${from}
      ORDER BY seq LIMIT ${next.step === STEPS.documents ? 1 : wanted}`);
    return { ...next, lines };
  }

  /** Stages what follows from the lines for records that they do not name: lists of referred patients, and corrections. */
  async stageConsequences(): Promise<void> {
    const columns = sql`import, org, type, id, step, seq, line, link`;
    const ofPatients = sql`s.import = ${this.name} AND s.type = 'PatientV1'`;
    await this.run(sql`INSERT INTO import_lines (${columns})
      SELECT import, org, CAST(${REFERRALS} AS TEXT), id, CAST(${STEPS.referrals} AS BIGINT), id, 0, NULL FROM (
        SELECT s.import, s.org, s.link AS id FROM import_lines s WHERE ${ofPatients} AND s.link IS NOT NULL
        UNION SELECT s.import, s.org, p.referred_by_patient_id FROM import_lines s
          JOIN patients p ON p.org = s.org AND p.id = s.id WHERE ${ofPatients} AND p.referred_by_patient_id IS NOT NULL
      ) AS referrers`);
    await this.run(sql`INSERT INTO import_lines (${columns})
      SELECT s.import, s.org, CAST(${CORRECTION} AS TEXT), s.link, CAST(${STEPS.corrections} AS BIGINT), s.link, 0, MAX(s.id) FROM import_lines s
      WHERE s.import = ${this.name} AND s.type = 'Transaction' AND s.link IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM import_lines o WHERE o.import = s.import AND o.org = s.org AND o.type = s.type AND o.id = s.link)
      GROUP BY s.import, s.org, s.link`);
    await this.flush();
  }
}
