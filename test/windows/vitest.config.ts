import { resolve } from 'node:path';
import { defaultExclude, defineConfig } from 'vitest/config';

const SECOND = 1000;

/**
 * What continuous integration has time for: what writes files, starts processes or speaks of paths. Commands put that
 * together, which takes as long again as all of it there: two working days of the installed product stand for them.
 */
const GATE = [
  'test/core/{output,exports,documents,profiles,names}/**/*.test.ts',
  'test/core/lockfile.test.ts',
  'test/{sqlite,windows}/**/*.test.ts',
  // Its folders are typed and looked for.
  'test/commands/documents/uploadlayout.test.ts',
  'test/cli/{process,serving}/**/*.test.ts',
  'test/acceptance/{demo,workingday}.test.ts',
];

/** Every test of a program or a module by itself; some need more of Linux than they say (docs/windows.md). */
const ALL = ['test/{catalog,cli,commands,core,sqlite,windows}/**/*.test.ts', 'test/acceptance/*.test.ts'];

const NOT_THERE = [
  // They stand in for Windows on Linux.
  'test/filesystem/**',
  'test/cli/exporting/heldfile.test.ts',
  // PostgreSQL, RabbitMQ, openssl and shells are not in the tree.
  'test/**/*postgres*.test.ts',
  'test/cli/completion/scripts.test.ts',
  'test/cli/process/wildcards.test.ts',
  // A signal to a process there ends it, whatever it listens to: here that would be the one that tests.
  'test/cli/process/interrupts.test.ts',
];

/** What takes minutes there. */
const SLOW = ['test/core/documents/downloads/receivefaults.test.ts', 'test/core/exports/resume.test.ts'];

const IS_ALL = process.env.MOLAR_TEST_WINDOWS === 'all';

/** The tests that run on Node for Windows; those below test/acceptance drive the product as it is installed there. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    globalSetup: './test/support/setup.ts',
    setupFiles: './test/support/worker.ts',
    include: IS_ALL ? ALL : GATE,
    exclude: [...defaultExclude, ...NOT_THERE, ...(IS_ALL ? [] : SLOW)],
    // What is typed is read in the form for sh.
    env: { TZ: 'UTC', MOLAR_SHELL: 'sh' },
    isolate: false,
    maxWorkers: 4,
    testTimeout: 240 * SECOND,
    hookTimeout: 240 * SECOND,
    teardownTimeout: 60 * SECOND,
    expect: { poll: { timeout: 60 * SECOND } },
  },
});
