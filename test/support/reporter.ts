import type { Reporter, TestModule } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints the closing line of a test run, `N passed, N failed` (and `, N skipped` when there are any), as the last
 * thing the process writes. A file or group that could not be run, and an error outside any test, counts as failed.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const line = closingLine(countTests(modules, unhandled.length));
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Counts single tests of finished modules. */
export function countTests(modules: readonly TestModule[], unhandledErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      counts[state === 'pending' ? 'failed' : state]++;
    }
    const groups = [module, ...module.children.allSuites()];
    counts.failed += groups.filter((group) => group.errors().length > 0).length;
  }
  return counts;
}
