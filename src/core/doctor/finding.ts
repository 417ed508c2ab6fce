import type { Failure } from '../failure.ts';

/** What one check of `molar doctor` found. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** What to do about it; null where there is nothing to do. */
  readonly next: string | null;
  /** Exit code of contract §4 for a failed check, 0 otherwise. */
  readonly exitCode: number;
}

/** A check that passed. */
export function passed(check: string, message: string): Finding {
  return { check, level: 'ok', message, next: null, exitCode: 0 };
}

/** A check with a warning; `next` says what to do about it. */
export function warning(check: string, message: string, next: string): Finding {
  return { check, level: 'warn', message, next, exitCode: 0 };
}

/** A check that failed. */
export function failed(check: string, failure: Pick<Failure, 'message' | 'hint' | 'exitCode'>): Finding {
  const { message, hint, exitCode } = failure;
  return { check, level: 'fail', message, next: hint, exitCode };
}

/** The exit code of a run: that of the first failed check, which causes the later ones; 0 when none failed. */
export function exitCodeOfFindings(findings: readonly Finding[]): number {
  return findings.find(({ level }) => level === 'fail')?.exitCode ?? 0;
}
