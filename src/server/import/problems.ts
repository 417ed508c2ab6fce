import type { Problem } from '../../catalog/failures.ts';

/** One thing that is wrong with an import, and where: lines count from 1. */
export interface ImportProblem {
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}

/** How many problems are listed; the rest is counted. */
export const LISTED_PROBLEMS = 50;

/** An import that was refused as a whole: nothing of it is in the store. */
export class ImportRefused extends Error {
  readonly problems: readonly ImportProblem[];
  readonly total: number;

  constructor(problems: readonly ImportProblem[], total: number) {
    super(`The import has ${total === 1 ? 'one problem' : `${total} problems`}; nothing was imported.`);
    this.name = 'ImportRefused';
    this.problems = problems;
    this.total = total;
  }
}

/** Collects problems without bound in number but bounded in memory. */
export class ProblemList {
  readonly listed: ImportProblem[] = [];
  total = 0;

  add(line: number, field: string | null, message: string): void {
    this.total++;
    if (this.listed.length < LISTED_PROBLEMS) this.listed.push({ line, field, message });
  }

  addAll(line: number, problems: readonly Problem[]): void {
    for (const problem of problems) this.add(line, problem.source, problem.description);
  }

  throwIfAny(): void {
    if (this.total > 0) throw new ImportRefused(this.listed, this.total);
  }
}
