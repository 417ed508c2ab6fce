import { defineConfig } from 'vitest/config';

/** The tests of one area, which `run.mjs` names; Stryker sees to it that one worker runs them. */
export default defineConfig({
  test: {
    globalSetup: './test/support/setup.ts',
    include: JSON.parse(process.env.MOLAR_MUTANTS_TESTS ?? '[]'),
    env: { TZ: 'UTC' },
    isolate: false,
    fileParallelism: false,
    // Many faults make a test wait for ever; the longest takes a few seconds.
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
