import { defineConfig } from 'vitest/config';

const SECOND = 1000;

/** The three groups of tests run one after the other, so that processes of one do not starve another's on two cores. */
export default defineConfig({
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    maxWorkers: 2,
    projects: [
      project('unit', 'test/{catalog,core,cli,commands,server,house}/**/*.test.ts', 30, 0),
      project('contract', 'test/contract/**/*.test.ts', 30, 1),
      project('acceptance', 'test/acceptance/**/*.test.ts', 120, 2),
    ],
  },
});

function project(name: string, include: string, seconds: number, groupOrder: number) {
  return {
    extends: true as const,
    test: {
      name,
      include: [include],
      testTimeout: seconds * SECOND,
      hookTimeout: seconds * SECOND,
      sequence: { groupOrder },
    },
  };
}
