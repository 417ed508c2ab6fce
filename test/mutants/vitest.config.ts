import { defineConfig } from 'vitest/config';

/** The tests of one area, which `run.mjs` names; Stryker sees to it that one worker runs them. */
export default defineConfig({
  test: {
    globalSetup: './test/support/setup.ts',
    include: JSON.parse(process.env.MOLAR_MUTANTS_TESTS ?? '[]'),
    env: { TZ: 'UTC' },
    isolate: false,
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
