import { defaultExclude, defineConfig } from 'vitest/config';
import { testPostgres } from './test/support/services.ts';

const SECOND = 1000;

const SERVER = ['events', 'import', 'recurrence', 'reports', 'resources', 'stream'];

/**
 * The groups of tests run one after the other, so that processes of one do not starve another's on two cores. What can
 * tell one store from another runs on both; where there is no PostgreSQL that is said, and in CI it is a failure.
 */
export default defineConfig(async () => ({
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    maxWorkers: 2,
    projects: [
      project('unit', ['test/{catalog,core,cli,commands,server,house}/**/*.test.ts'], 30, 0),
      project('contract', ['test/contract/**/*.test.ts'], 30, 1),
      project('acceptance', ['test/acceptance/**/*.test.ts'], 120, 2),
      ...((await testPostgres()) === undefined ? [] : [onPostgres]),
    ],
  },
}));

/** What costs much and asks nothing of a store: the memory of listeners, and what a broker of its own says. */
const ANYWHERE = ['test/server/stream/{crowd,relay/rabbitmq}.test.ts'];

const onPostgres = project(
  'postgres',
  // Below test/server/store each store has a folder of its own, that needs no telling.
  [
    'test/contract/*.test.ts',
    'test/server/store/{,migrations/}*.test.ts',
    `test/server/{${SERVER.join(',')}}/**/*.test.ts`,
  ],
  90,
  3,
  { MOLAR_TEST_STORE: 'postgres' },
  ANYWHERE,
);

function project(
  name: string,
  include: string[],
  seconds: number,
  groupOrder: number,
  env = {},
  exclude: string[] = [],
) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      exclude: [...defaultExclude, ...exclude],
      env,
      testTimeout: seconds * SECOND,
      hookTimeout: seconds * SECOND,
      sequence: { groupOrder },
    },
  };
}
