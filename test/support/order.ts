import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
/** 48 bits: as many as a number holds exactly, in whole hexadecimal digits. */
const DIGITS = 12;

/**
 * The seed of the order that tests run in: what the commit contains. So each commit tries another order, and what fails
 * on one machine fails on the next in the same order. Without git it is the time.
 */
export function seedOfCommit(): number {
  try {
    const tree = execFileSync('git', ['rev-parse', 'HEAD^{tree}'], { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
    return Number.parseInt(tree.slice(0, DIGITS), 16);
  } catch {
    return Date.now();
  }
}
