import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The long form: one file after the other, each as long as it takes. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    globalSetup: './test/support/setup.ts',
    setupFiles: './test/support/worker.ts',
    include: ['test/torture/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 0,
    hookTimeout: 0,
  },
});
